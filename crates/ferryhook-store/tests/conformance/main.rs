//! What every engine must do, and what the repositories make of it: one list of cases, run on
//! each engine. A case is an ordinary function in one of the modules; a case that is not in the
//! list is dead code and does not compile.
//!
//! On one engine: `cargo test --test conformance memory::`.
//!
//! Another engine needs two lines here: a function in `engines` that opens it, and
//! `conformance!(its_name)`. One that needs a server answers `Err` with the reason when there is
//! none, and the reason is printed where nobody can miss it. Tables may be shared by all cases of
//! a run, but not with the run before: ids are the same in every run.

#![allow(
    clippy::unwrap_used,
    reason = "every function here is part of a test, also those not marked so"
)]

mod bench;
mod cast;
mod probe;
mod yielding;

mod answers;
mod billing;
mod chain;
mod changes;
mod counts;
mod erasures;
mod event_types;
mod gateway;
mod inbox;
mod ledger;
mod lists;
mod notes;
mod people;
mod races;
mod replays;
mod rows;
mod service;
mod sign_in;
mod triggers;
mod vault;

/// How each engine is had. An error skips the case and is printed as its reason.
mod engines {
    use std::sync::Arc;

    use ferryhook_core::Env;
    use ferryhook_store::engine::embedded::{Embedded, EmbeddedConfig};
    use ferryhook_store::engine::memory::Memory;

    use crate::bench::Opened;

    pub(crate) async fn memory(env: Env) -> Result<Opened, String> {
        Ok(Opened { engine: Arc::new(Memory::new(env)), keep: Box::new(()) })
    }

    /// With segments and tables so small that every larger case goes through all of its parts.
    pub(crate) async fn embedded(env: Env) -> Result<Opened, String> {
        let directory = tempfile::tempdir().unwrap();
        let config = EmbeddedConfig {
            segment_bytes: 256 * 1024,
            table_bytes_max: 128 * 1024,
            ..EmbeddedConfig::new(directory.path())
        };
        let engine = Embedded::open(config, env).unwrap();
        Ok(Opened { engine: Arc::new(engine), keep: Box::new(directory) })
    }

    #[cfg(feature = "aws")]
    pub(crate) use server::dynamo;

    /// For cases that change what all rows of a store share: theirs is nobody else's.
    pub(crate) mod alone {
        #[cfg(feature = "aws")]
        pub(crate) use super::server::dynamo_alone as dynamo;
        pub(crate) use super::{embedded, memory};
    }

    #[cfg(feature = "aws")]
    mod server {
        use ferryhook_store::engine::dynamo::{Dynamo, DynamoConfig};
        use ferryhook_store::schema;
        use tokio::sync::OnceCell;

        use std::sync::atomic::{AtomicU32, Ordering};

        use super::{Arc, Env, Opened};

        /// All cases share one set of tables, which is new for each run.
        pub(crate) async fn dynamo(env: Env) -> Result<Opened, String> {
            static TABLES: OnceCell<DynamoConfig> = OnceCell::const_new();
            let endpoint = endpoint()?;
            let config = TABLES.get_or_init(|| tables(endpoint, "all")).await;
            let engine = Dynamo::open(config.clone(), env).await.unwrap();
            Ok(Opened { engine: Arc::new(engine), keep: Box::new(()) })
        }

        pub(crate) async fn dynamo_alone(env: Env) -> Result<Opened, String> {
            static MADE: AtomicU32 = AtomicU32::new(0);
            let own = format!("own{}", MADE.fetch_add(1, Ordering::Relaxed));
            let config = tables(endpoint()?, &own).await;
            let engine = Dynamo::open(config, env).await.unwrap();
            Ok(Opened { engine: Arc::new(engine), keep: Box::new(()) })
        }

        fn endpoint() -> Result<String, String> {
            std::env::var("FERRYHOOK_TEST_DYNAMO")
                .map_err(|_| "dynamo: FERRYHOOK_TEST_DYNAMO is not set".to_owned())
        }

        async fn tables(endpoint: String, name: &str) -> DynamoConfig {
            let run = std::process::id();
            let config = DynamoConfig {
                endpoint: Some(endpoint),
                region: Some("us-west-2".into()),
                table_prefix: format!("conformance-{run}-{name}-"),
                ledger_table: format!("conformance-{run}-{name}-ledger"),
            };
            schema::apply(&config, &mut |_| {}).await.unwrap();
            config
        }
    }
}

conformance!(memory);
conformance!(embedded);
telling!(memory, of_memory);
telling!(embedded, of_embedded);
#[cfg(feature = "aws")]
conformance!(dynamo);
#[cfg(feature = "aws")]
telling!(dynamo, of_dynamo);

/// Turns each case into a test of its own, named `engine::case`.
macro_rules! tests {
    ($engine:path; $($module:ident: $($case:ident,)* ;)*) => {
        $($(
            #[test]
            fn $case() {
                crate::bench::run(
                    $engine,
                    stringify!($case),
                    crate::$module::$case,
                );
            }
        )*)*
    };
}
use tests;

/// The list for engines that tell what was changed.
macro_rules! telling {
    ($engine:ident, $name:ident) => {
        mod $name {
            crate::tests! {
                crate::engines::alone::$engine;
                changes:
                    every_write_is_told_in_its_order,
                    nothing_is_missed_between_pages,
                    every_place_can_be_gone_on_from,
                    what_was_only_buffered_is_told_too,
                    a_refused_commit_changes_nothing,
                    what_has_expired_is_not_told,
                    only_what_has_a_value_is_told,
                    who_waits_is_woken,
                    now_begins_behind_what_was_written,
                    a_place_that_never_was_is_refused,
                    a_table_without_a_stream_is_refused,
                    events_tell_their_changes,
                ;
            }
        }
    };
}
use telling;

/// The list.
macro_rules! conformance {
    ($engine:ident) => {
        mod $engine {
            crate::tests! {
                crate::engines::alone::$engine;
                billing: there_is_one_default_plan, ;
                vault:
                    another_master_key_is_refused_at_once,
                    a_rotation_wraps_every_key_anew,
                    a_rotation_that_was_interrupted_is_noticed_and_finished,
                ;
            }
            crate::tests! {
                crate::engines::$engine;
                rows:
                    what_is_inserted_can_be_read,
                    what_was_never_written_is_absent,
                    a_row_says_its_kind_and_shape,
                    a_buffered_commit_is_visible_at_once,
                    a_second_insert_is_refused_by_name,
                    an_expired_row_cannot_be_read,
                    an_expired_row_is_in_no_list,
                    an_expired_row_may_be_inserted_again,
                    an_expired_row_cannot_be_changed,
                    expiry_can_be_put_off,
                    expiry_can_be_lifted,
                    a_replacement_changes_what_differs,
                    a_replacement_by_the_same_still_counts,
                    a_stale_replacement_is_refused,
                    a_replacement_of_nothing_is_refused,
                    a_replacement_cannot_change_the_key,
                    content_never_changes,
                    content_can_be_neither_patched_nor_asked_for,
                    content_cannot_be_added_later,
                    content_survives_a_change_of_the_rest,
                    a_patch_sets_adds_and_removes,
                    adding_to_an_absent_attribute_begins_at_zero,
                    removing_an_absent_attribute_is_nothing,
                    a_patch_of_nothing_is_refused,
                    a_patch_keeps_its_index_entries,
                    a_patch_may_ask_for_a_value,
                    asking_for_the_value_of_an_absent_attribute_is_refused,
                    a_patch_may_ask_for_a_revision,
                    a_patch_cannot_ask_for_absence,
                    an_attribute_cannot_be_changed_twice_in_a_patch,
                    a_sum_beyond_the_largest_number_is_refused,
                    adding_to_text_is_refused,
                    what_is_deleted_is_gone_from_everywhere,
                    what_was_deleted_can_be_inserted_again,
                    a_stale_deletion_is_refused,
                    a_second_deletion_is_refused,
                    requirements_decide_over_the_batch,
                    a_batch_with_one_failing_action_does_nothing,
                    the_first_failing_action_is_named,
                    a_batch_may_span_tables,
                    a_batch_may_have_a_hundred_actions,
                    a_batch_of_more_than_a_hundred_actions_is_refused,
                    an_empty_batch_is_refused,
                    a_batch_cannot_name_a_row_twice,
                    an_item_may_nearly_fill_its_bound,
                    an_item_over_its_bound_is_refused,
                    a_change_cannot_grow_an_item_over_its_bound,
                    a_batch_over_its_bytes_is_refused,
                    a_key_cannot_be_empty,
                    a_key_may_be_as_long_as_its_bound,
                    a_key_over_its_bound_is_refused,
                    a_key_has_the_parts_its_table_has,
                    an_index_entry_has_to_fit_its_index,
                    any_text_comes_back,
                    any_text_can_be_a_key,
                    partitions_do_not_run_into_each_other,
                    any_bytes_come_back,
                    empty_values_come_back,
                    deep_values_come_back,
                    any_number_comes_back,
                    a_number_no_engine_keeps_is_refused,
                    truth_values_come_back,
                    revisions_count_every_write,
                    a_requirement_does_not_count_as_a_write,
                ;
                lists:
                    an_empty_partition_has_an_empty_page,
                    a_partition_is_sorted_both_ways,
                    a_prefix_finds_what_begins_with_it,
                    a_prefix_of_the_last_character_ends,
                    a_range_of_text_includes_its_ends,
                    a_range_of_numbers_includes_its_ends,
                    a_range_that_ends_before_it_begins_is_empty,
                    exactly_finds_one_sort_key,
                    pages_of_a_table_neither_skip_nor_repeat,
                    pages_of_an_index_neither_skip_nor_repeat,
                    pages_of_a_range_stay_in_it,
                    equal_index_keys_are_paged_one_by_one,
                    a_page_that_ends_with_the_list_may_say_so_late,
                    pages_go_on_while_rows_come_and_go,
                    pages_pass_over_what_has_expired,
                    a_page_has_at_least_one_row_and_at_most_its_bound,
                    a_question_has_to_fit_the_declaration,
                    a_cursor_of_another_list_is_refused,
                    other_kinds_in_a_partition_are_passed_over,
                    other_kinds_in_an_index_are_passed_over,
                    a_sparse_index_has_only_those_with_an_entry,
                    an_index_entry_follows_its_row,
                    an_index_shows_the_row_as_it_is,
                    an_index_without_order_is_paged_too,
                ;
                races:
                    of_many_inserts_of_one_key_one_wins,
                    of_many_replacements_of_one_row_one_wins,
                    of_many_deletions_of_one_row_one_wins,
                    concurrent_sums_are_all_counted,
                    batches_on_the_same_rows_do_not_mix,
                    of_many_users_with_one_address_one_signs_up,
                    of_many_keys_with_one_hash_one_is_created,
                    of_many_who_return_with_one_state_one_takes_it,
                    usage_from_several_nodes_adds_up,
                    of_many_workers_one_leases_a_delivery,
                ;
                inbox:
                    an_item_comes_with_its_event,
                    an_item_stands_where_its_status_says,
                    of_two_who_lease_an_item_one_has_it,
                    an_item_is_settled_beside_the_others_of_its_event,
                    items_are_listed_by_type_by_status_and_by_time,
                    pages_of_an_inbox_neither_skip_nor_repeat,
                    items_go_with_their_event,
                ;
                ledger:
                    ledger_the_first_write_is_new,
                    ledger_a_later_write_is_a_duplicate,
                    ledger_an_expired_entry_counts_as_new,
                    ledger_a_marked_event_claims_its_key_when_it_is_verified,
                    ledger_keys_are_told_apart,
                    of_many_marks_of_one_key_one_is_new,
                    an_event_is_accepted_with_its_claim,
                    an_event_without_a_claim_is_always_new,
                    a_copy_is_recognised_and_not_stored,
                    a_copy_after_the_claim_expired_is_new,
                    a_copy_is_recognised_after_its_event_expired,
                    copies_within_a_batch_are_recognised,
                    new_ones_and_copies_may_come_together,
                    a_claim_never_exists_without_its_event,
                    an_accept_that_is_repeated_says_new_again,
                    of_many_copies_at_once_one_is_stored,
                    fifty_claimed_events_fit_into_one_accept,
                    nothing_is_accepted_as_nothing,
                    a_consumer_claims_and_completes,
                    a_leased_key_is_busy,
                    a_lease_that_ended_goes_to_the_next,
                    one_who_overslept_is_fenced_off,
                    one_who_is_late_but_alone_may_complete,
                    a_released_key_goes_to_the_next_at_once,
                    a_claim_that_expired_is_forgotten_and_its_tokens_still_grow,
                    what_was_marked_is_done_for_consumers,
                    of_many_consumers_one_gets_the_key,
                ;
                gateway:
                    gateway_get_user_by_id,
                    gateway_get_user_by_email,
                    gateway_list_sources_for_user,
                    gateway_get_source_by_id,
                    gateway_edit_a_source_with_its_connections,
                    gateway_list_connections_for_source,
                    gateway_authenticate_api_key,
                    gateway_list_events_for_source_newest_first,
                    gateway_get_event_by_id,
                    gateway_list_attempts_for_event,
                    gateway_list_users_api_keys,
                    gateway_users_create_refuses_a_taken_email,
                    gateway_users_update,
                    gateway_users_update_moves_the_email,
                    a_change_of_case_keeps_the_email,
                    a_deleted_user_frees_the_email,
                    gateway_users_increment_usage,
                    signing_up_makes_user_account_and_member_or_nothing,
                    gateway_sources_update,
                    gateway_sources_delete,
                    sources_count_their_events,
                    gateway_connections_update,
                    gateway_connections_delete,
                    connections_count_their_deliveries,
                    gateway_events_create_keeps_the_exact_body,
                    gateway_events_update_status,
                    an_event_cannot_change_what_it_carries,
                    events_count_their_duplicates,
                    an_event_expires_with_its_story,
                    an_event_can_be_erased_with_its_story,
                    a_held_event_is_found_by_its_source_until_it_goes_on,
                    an_accepted_event_is_pending_until_it_is_planned,
                    an_event_that_nobody_wants_is_planned_with_nothing,
                    gateway_attempts_create_with_the_delivery,
                    a_delivery_is_settled_together_with_its_event,
                    a_late_attempt_is_counted,
                    a_held_delivery_waits_in_its_queue,
                    an_event_that_moved_on_is_noticed_though_it_is_to_stand_as_it_stood,
                    an_ordered_queue_is_in_the_order_of_its_events,
                    connections_of_all_accounts_are_listed_for_their_queues,
                    a_lease_that_ended_is_due_again,
                    gateway_api_keys_create_refuses_a_taken_hash,
                    gateway_api_keys_delete,
                    gateway_api_keys_update_last_used,
                    rejections_are_listed_by_source,
                    a_rejection_can_be_found_and_deleted,
                    a_rejection_is_let_in_once,
                ;
                answers:
                    the_first_to_ask_is_told_to_do_it,
                    a_repetition_hears_the_same_answer,
                    the_same_key_of_another_caller_is_another_request,
                    another_request_under_the_same_key_is_told,
                    one_who_died_is_replaced_and_told_if_they_live,
                    what_was_abandoned_is_done_anew,
                    an_answer_is_kept_for_a_day,
                    an_answer_at_the_bound_is_kept_and_one_above_is_not,
                    of_many_who_ask_at_once_one_does_it,
                ;
                event_types:
                    event_types_are_counted_without_reading,
                    an_event_type_is_learned_once,
                    event_types_are_listed_by_account_and_declaration,
                ;
                counts:
                    rollups_are_begun_and_added_to,
                    rollups_are_listed_by_time_and_interval,
                    the_largest_rollups_fit_into_a_commit,
                    rollups_from_several_servers_add_up,
                    a_month_is_never_taken_twice,
                    a_plan_has_room_for_so_many_sources,
                    what_was_there_before_the_count_is_counted,
                    hooks_are_counted,
                ;
                erasures:
                    an_erasure_is_open_until_it_is_over,
                    an_erasure_is_taken_by_one,
                    an_erasure_that_ends_forgets_whom_it_was_about,
                    an_erased_event_leaves_no_key_and_still_keeps_copies_out,
                    an_erased_event_leaves_another_ones_claim_alone,
                    an_erased_event_does_not_come_back_with_its_delivery,
                    an_erased_rejection_is_gone,
                ;
                vault:
                    secrets_are_sealed_below_and_plain_above,
                    edits_are_sealed,
                    what_an_older_version_left_in_the_open_is_sealed_when_it_is_written,
                    what_was_sealed_elsewhere_does_not_open,
                    what_was_altered_does_not_open,
                    a_store_without_a_vault_refuses_what_is_sealed,
                    two_who_make_a_key_at_once_have_the_same,
                    a_lost_key_is_told,
                    the_largest_answer_fits_sealed,
                    what_belongs_to_nobody_is_sealed_too,
                ;
                chain:
                    racing_commits_make_one_unbroken_chain,
                    a_refused_commit_leaves_neither_line_nor_gap,
                    details_are_the_same_after_they_were_stored,
                    a_changed_line_is_found,
                    a_removed_line_is_found,
                    a_line_that_was_put_in_is_found,
                    lines_that_changed_places_are_found,
                    lines_from_before_the_chain_are_counted,
                    a_log_is_checked_in_stretches,
                    an_alert_is_told_once,
                    unread_notifications_come_first,
                    hooks_are_found_by_shard,
                ;
                notes:
                    a_change_and_its_line_in_the_log_are_one_commit,
                    a_refused_change_is_not_in_the_log,
                    a_second_change_is_not_noted_again,
                    a_noted_change_still_says_what_is_taken,
                    what_is_buffered_is_not_noted,
                    nothing_is_noted_without_a_change,
                ;
                replays:
                    a_replay_is_found_by_its_account_and_by_its_id,
                    replays_are_listed_in_the_order_they_were_asked_for,
                    a_replay_is_in_the_queue_until_it_is_over,
                    a_replay_is_taken_by_one,
                    a_replay_remembers_how_far_it_has_come,
                    a_replay_may_name_ten_thousand_events,
                    a_cancelled_replay_is_over_for_whoever_has_it,
                    a_replay_that_is_over_is_kept_for_a_while,
                    deliveries_begin_again_together_with_their_event,
                    a_replay_counts_as_a_change_of_its_event,
                    a_replay_is_refused_when_a_sibling_has_moved,
                    a_replayed_delivery_waits_in_a_queue_of_its_own,
                    an_event_may_be_replayed_over_ninety_eight_connections,
                    dead_letters_are_those_without_a_delivery,
                    a_dead_letter_is_pending_again_when_it_is_redriven,
                    a_replay_forgets_what_kept_an_event_from_being_processed,
                ;
                people:
                    a_child_is_created_for_those_above,
                    an_account_without_members_is_kept_by_those_above,
                    a_tree_has_a_bound_in_both_directions,
                    of_many_children_at_once_all_are_counted,
                    a_renamed_account_takes_the_paths_beneath_it_along,
                    an_account_with_too_many_beneath_keeps_its_name,
                    an_account_is_as_badly_off_as_the_one_above,
                    an_account_ends_after_those_beneath_it,
                    an_administrator_is_one_in_all_accounts_beneath,
                    one_who_is_suspended_stands_nowhere,
                    members_change_roles_and_leave,
                    the_last_administrator_stays,
                    two_administrators_cannot_remove_each_other,
                    one_who_came_back_as_less_is_no_administrator,
                    one_who_leaves_their_default_account_gets_another,
                    a_default_account_is_one,
                    an_invitation_is_found_by_its_token,
                    an_invitation_is_accepted_once,
                    an_account_has_room_for_so_many_members,
                    an_invitation_is_for_one_address,
                    a_member_needs_no_invitation,
                    an_invitation_ends_with_its_host,
                    an_account_has_a_bound_for_invitations,
                    a_suspended_account_takes_nobody_in,
                    a_revoked_invitation_opens_nothing,
                    an_invitation_goes_a_while_after_its_end,
                    one_who_is_invited_signs_up_or_nothing_happens,
                    a_revoked_key_is_found_as_revoked_at_once,
                    a_key_is_revoked_while_it_is_used,
                    an_account_has_a_bound_for_keys,
                    a_key_with_an_old_marker_is_found,
                    a_key_is_found_in_its_account_only,
                    an_installation_has_one_owner,
                    the_owner_is_handed_over_once,
                ;
                triggers:
                    triggers_create_event,
                    triggers_get_event_by_id,
                    triggers_query_events_by_user,
                    the_inbox_has_every_source_of_the_account,
                    triggers_query_events_by_event_type,
                    a_type_may_contain_the_separator,
                    events_of_one_millisecond_are_all_listed,
                    triggers_query_events_by_status,
                    triggers_update_event_status,
                    pushed_events_are_listed_by_status_while_they_need_someone,
                    a_deleted_event_leaves_every_list,
                    windows_may_be_open_at_either_end,
                ;
                billing:
                    of_many_who_begin_to_pay_all_are_the_same_customer,
                    a_customer_pays_for_one_owner,
                    what_stripe_said_is_written_over_what_was_read,
                    a_plan_is_changed_from_the_one_that_was_seen,
                ;
                sign_in:
                    a_session_begins_if_the_user_is_as_they_were,
                    a_session_is_renewed_by_one,
                    sessions_are_listed_for_their_user_and_end,
                    a_session_is_gone_when_its_time_is_over,
                    the_others_end_together_with_the_change,
                    a_ticket_is_found_by_its_text_and_taken_once,
                    a_ticket_counts_wrong_answers,
                    a_ticket_runs_out,
                    a_ticket_is_redeemed_together_with_the_change,
                    token_keys_are_listed_from_the_newest_and_forgotten,
                    an_identity_belongs_to_one_user,
                    an_identity_is_given_up_with_the_user,
                    of_many_who_sign_in_with_one_code_one_does,
                ;
                service:
                    service_accounts_get_account_by_id,
                    service_accounts_list_child_accounts_by_parent,
                    service_accounts_query_accounts_by_type,
                    accounts_replace_moves_them_in_the_tree,
                    service_users_get_user_by_id,
                    service_users_find_user_by_email,
                    service_users_update_user_profile,
                    service_members_get_all_accounts_for_a_user,
                    service_members_get_all_users_for_an_account,
                    service_members_check_user_permissions_for_specific_account,
                    service_sources_get_source_by_id,
                    service_sources_list_all_sources_for_an_account,
                    service_sources_list_sources_by_platform,
                    service_sources_filter_sources_by_status,
                    service_sync_schedules_get_schedules_for_a_source,
                    service_sync_schedules_find_schedules_ready_to_run,
                    service_sync_schedules_update_schedule_after_execution,
                    a_schedule_between_two_minutes_is_refused,
                    a_deleted_schedule_is_gone,
                    service_sync_history_get_sync_history_for_a_source,
                    service_sync_history_query_recent_failed_syncs,
                    service_sync_history_calculate_sync_statistics,
                    service_activities_get_activities_for_an_account,
                    service_activities_query_user_activity_history,
                    service_activities_filter_by_event_type,
                    service_api_keys_validate_api_key,
                    service_api_keys_list_keys_for_an_account,
                    service_api_keys_revoke_key,
                    an_expired_key_is_still_listed,
                    service_webhooks_get_webhook_configuration,
                    service_webhooks_list_webhooks_for_account,
                    service_webhooks_find_webhooks_for_specific_event,
                    service_notifications_get_notifications_for_user,
                    service_notifications_query_unread_and_mark_as_read,
                    service_usage_metrics_get_daily_metrics_for_account,
                    service_usage_metrics_calculate_monthly_usage,
                    service_usage_metrics_generate_billing_reports,
                    service_billing_plans_get_plan_details,
                    service_billing_plans_list_available_plans,
                    service_billing_plans_compare_plan_features,
                    seeding_leaves_edited_plans_alone,
                    service_oauth_states_validate_oauth_callback_state,
                    service_oauth_states_clean_up_expired_states,
                ;
            }
        }
    };
}
use conformance;
