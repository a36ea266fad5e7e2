"""Looks at the DynamoDB tables as a stranger would: with boto3, and from the documents alone.

    check_dynamo_items.py FACTS

FACTS is JSON: where the tables are, what they are called, and the ids of one of everything that
was stored in them (`crates/ferryhook-store/tests/boto3.rs` stores it and runs this). What is
written here comes from the documents the schema was designed after, never from our code: key
conditions, index names, attribute names and types. The events table has keys of its own; where
those documents ask for `user_id` and `timestamp#event_id` as the table's keys, they are asked
through InboxIndex, and `user_id` is the account's id.
"""

import json
import os
import re
import sys
import time
from datetime import datetime

import boto3
from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import TypeSerializer
from botocore.exceptions import ClientError

# An index follows its table by a moment.
INDEX_TRIES = 40
INDEX_PAUSE_SECONDS = 0.05

# Attribute and type of every noun. A type is DynamoDB's, or the form of a text or a time.
ATTRIBUTES = {
    "user": "userId S, email S, name S, passwordHash S, plan S, stripeCustomerId S, "
    "stripeSubId S, githubId S, googleId S, usageThisMonth N, usagePeriodStart ISO, "
    "createdAt ISO, updatedAt ISO, firstName S, lastName S, status S, emailVerified BOOL, "
    "twoFactorEnabled BOOL, lastLoginAt SECONDS, preferences M",
    "source": "sourceId S, userId S, name S, provider S, signingSecret S, signingAlgorithm S, "
    "status S, eventCount N, lastEventAt ISO, createdAt ISO, accountId S, platformId S, "
    "connectionType S, config M, lastSyncAt SECONDS, syncStatus S, createdBy S",
    "connection": "connectionId S, sourceId S, userId S, name S, destinationUrl S, "
    "signingSecret S, filters JSON, transform JSON, retryConfig JSON, status S, "
    "deliveryCount N, failureCount N, createdAt ISO, updatedAt ISO",
    "key": "keyId S, userId S, name S, keyHash S, keyPrefix S, permissions S, lastUsedAt ISO, "
    # `operations` is the list that another document calls `permissions`, a word taken here.
    "createdAt ISO, accountId S, status S, operations L, expiresAt SECONDS, metadata M",
    "event": "eventId S, sourceId S, userId S, status S, headers JSON, body S, sourceIp S, "
    "contentType S, method S, receivedAt MILLIS, processedAt MILLIS, deliveredAt MILLIS, "
    "expiresAt SECONDS, user_id S, timestamp#event_id S, event_id S, event_type S, payload M, "
    "timestamp MICROS_ISO, ttl SECONDS, retry_count N, metadata M, event_type#timestamp S, "
    "status#timestamp S",
    "attempt": "eventId S, connectionId S, attemptNumber N, destinationUrl S, statusCode N, "
    "responseBody S, latencyMs N, error S, attemptedAt MILLIS",
    "claim": "pk S, seenAt ISO, expiresAt SECONDS, source S, notes S",
    "account": "accountId S, parentAccountId S, accountPath S, accountType S, accountName S, "
    "level N, status S, createdAt SECONDS, updatedAt SECONDS, metadata M, settings M",
    "member": "userId S, accountId S, role S, permissions M, isDefault BOOL, joinedAt SECONDS, "
    "invitedBy S, status S",
    "schedule": "sourceId S, scheduleId S, scheduleType S, cronExpression S, dataTypes L, "
    "isActive BOOL, nextRunAt SECONDS, lastRunAt SECONDS, retryPolicy M, createdAt SECONDS, "
    "updatedAt SECONDS",
    "run": "sourceId S, syncId S, scheduleId S, status S, startedAt SECONDS, "
    "completedAt SECONDS, duration N, dataTypes L, recordsProcessed M, errors L, s3Location S, "
    "metadata M",
    "activity": "accountId S, eventId S, timestamp SECONDS, userId S, eventType S, resource S, "
    "resourceId S, action S, details M, ipAddress S, userAgent S",
    # A truth value cannot be part of a key, so here it is a number.
    "hook": "webhookId S, accountId S, url S, events L, isActive N, secret S, headers M, "
    "retryPolicy M, lastResponseCode N, lastCalledAt SECONDS, failureCount N, "
    "createdAt SECONDS, updatedAt SECONDS",
    "notification": "userId S, notificationId S, type S, title S, message S, isRead BOOL, "
    "readAt SECONDS, category S, metadata M, actionUrl S, createdAt SECONDS, "
    "expiresAt SECONDS, isRead#createdAt S",
    "usage": "accountId S, metricDate DAY, apiCalls N, dataProcessed N, storageUsed N, "
    "syncJobs N, activeUsers N, activeSources N, errorCount N, byPlatform M, byUser M, "
    "hourlyCounts L, updatedAt SECONDS",
    "plan": "planId S, planName S, planType S, price N, currency S, limits M, features L, "
    "isActive BOOL, isDefault BOOL, customizable BOOL, metadata M, createdAt SECONDS, "
    "updatedAt SECONDS",
    "plan limits": "apiCallsPerMonth N, storageGB N, users N, sources N, syncFrequency S, "
    "dataRetentionDays N, webhooks N, customDomains N",
    "oauth state": "state S, userId S, accountId S, platformId S, redirectUri S, "
    "createdAt SECONDS, expiresAt SECONDS, metadata M",
}

ON_DEMAND = "on demand"
# Keys, capacity, expiry, indexes.
TABLES = {
    "main": (
        "PK S, SK S",
        ON_DEMAND,
        "ttl",
        {
            "GSI1": "GSI1PK S, GSI1SK S",
            "GSI2": "GSI2PK S, GSI2SK S",
            "GSI3": "GSI3PK S, GSI3SK S",
            "accountId-platformId-index": "accountId S, platformId S",
            "accountId-status-index": "accountId S, status S",
        },
    ),
    "events": (
        "PK S, SK S",
        ON_DEMAND,
        "expiresAt",
        {
            "GSI1": "GSI1PK S, GSI1SK S",
            "InboxIndex": "user_id S, timestamp#event_id S",
            "EventTypeIndex": "user_id S, event_type#timestamp S",
            "StatusIndex": "user_id S, status#timestamp S",
        },
    ),
    "ledger": ("pk S", ON_DEMAND, "expiresAt", {}),
    "accounts": (
        "accountId S",
        ON_DEMAND,
        None,
        {"parentAccountId-accountType-index": "parentAccountId S, accountType S"},
    ),
    "users_accounts": (
        "userId S, accountId S",
        ON_DEMAND,
        None,
        {"accountId-role-index": "accountId S, role S"},
    ),
    "sync_schedules": (
        "sourceId S, scheduleId S",
        (5, 5),
        None,
        {"nextRunAt-index": "nextRunAt N"},
    ),
    "sync_history": (
        "sourceId S, syncId S",
        ON_DEMAND,
        None,
        {"status-startedAt-index": "status S, startedAt N"},
    ),
    "activities": (
        "accountId S, eventId S",
        ON_DEMAND,
        None,
        {
            "userId-timestamp-index": "userId S, timestamp N",
            "eventType-timestamp-index": "eventType S, timestamp N",
        },
    ),
    "webhooks": (
        "webhookId S",
        ON_DEMAND,
        None,
        {
            "accountId-isActive-index": "accountId S, isActive N",
            "lanes-index": "laneShard S, webhookId S",
        },
    ),
    "notifications": (
        "userId S, notificationId S",
        ON_DEMAND,
        "expiresAt",
        {"userId-isRead-createdAt-index": "userId S, isRead#createdAt S"},
    ),
    "usage_metrics": (
        "accountId S, metricDate S",
        (10, 20),
        None,
        {"metricDate-accountId-index": "metricDate S, accountId S"},
    ),
    "billing_plans": ("planId S", (5, 1), None, {}),
    "oauth_states": ("state S", ON_DEMAND, "expiresAt", {}),
}
STREAMS = {"events": "NEW_IMAGE"}


def gateway(check, facts, table):
    """The gateway's access patterns, by the key conditions its document lists."""
    main, events = table("main"), table("events")
    user, source, event = facts["user"], facts["source"], facts["event"]

    def pattern(name, where, kind, ids, **query):
        check(f"gateway: {name}", lambda: found(where, kind, ids, **query))

    pattern(
        "get user by ID", main, "user", {"userId": user},
        KeyConditionExpression=Key("PK").eq(f"USER#{user}") & Key("SK").eq("PROFILE"),
    )
    pattern(
        "get user by email", main, "user", {"userId": user},
        IndexName="GSI1",
        KeyConditionExpression=Key("GSI1PK").eq(f"EMAIL#{facts['email']}"),
    )
    pattern(
        "list sources for user", main, "source", {"sourceId": source},
        KeyConditionExpression=Key("PK").eq(f"USER#{user}") & Key("SK").begins_with("SRC#"),
    )
    pattern(
        "get source by ID", main, "source", {"sourceId": source},
        IndexName="GSI3",
        KeyConditionExpression=Key("GSI3PK").eq(f"SRCID#{source}"),
    )
    pattern(
        "list connections for source", main, "connection", {"connectionId": facts["connection"]},
        KeyConditionExpression=Key("PK").eq(f"SRC#{source}") & Key("SK").begins_with("CONN#"),
    )
    pattern(
        "authenticate API key", main, "key", {"keyId": facts["key"]},
        IndexName="GSI2",
        KeyConditionExpression=Key("GSI2PK").eq(f"KEYHASH#{facts['keyHash']}"),
    )
    pattern(
        "list events for source (newest first)", events, "event",
        {"eventId": [event, facts["earlierEvent"]]},
        KeyConditionExpression=Key("PK").eq(f"SRC#{source}") & Key("SK").begins_with("EVT#"),
        ScanIndexForward=False,
    )
    pattern(
        "get event by ID", events, "event", {"eventId": event},
        IndexName="GSI1",
        KeyConditionExpression=Key("GSI1PK").eq(f"EVTID#{event}"),
    )
    pattern(
        "list attempts for event", events, "attempt", {"eventId": event},
        KeyConditionExpression=Key("PK").eq(f"EVT#{event}") & Key("SK").begins_with("ATT#"),
    )
    pattern(
        "list user's API keys", main, "key", {"keyId": facts["key"]},
        KeyConditionExpression=Key("PK").eq(f"USER#{user}") & Key("SK").begins_with("KEY#"),
    )


def ledger(check, facts, table):
    """The ledger: the shape of an entry, and what a second conditional write of it hears."""
    ledger = table("ledger")
    check(
        "ledger: an entry",
        lambda: got(ledger, "claim", pk=facts["claim"]),
    )

    def mark(pk):
        ledger.put_item(Item={"pk": pk}, ConditionExpression="attribute_not_exists(pk)")

    def duplicate():
        try:
            mark(facts["claim"])
        except ClientError as error:
            same(error.response["Error"]["Code"], "ConditionalCheckFailedException")
        else:
            raise AssertionError("the second write was let through")

    check("ledger: a later write is a duplicate", duplicate)
    check("ledger: a first write is new", lambda: mark("ALOWARE:never-seen"))
    # Without anything of ours: the test asks afterwards whether it is taken for a duplicate.
    bare = {"pk": facts["bareClaim"], "seenAt": "2026-01-01T00:00:00.000Z",
            "expiresAt": facts["bareClaimUntil"]}
    check("ledger: an entry of another program", lambda: ledger.put_item(Item=bare))


def triggers(check, facts, table):
    """The event store's queries as they were written, base keys through InboxIndex."""
    events, account = table("events"), facts["account"]
    event, earlier = facts["event"], facts["earlierEvent"]

    def by_id():
        response = events.query(
            IndexName="InboxIndex",
            KeyConditionExpression="user_id = :uid AND #key = :key",
            ExpressionAttributeNames={"#key": "timestamp#event_id"},
            ExpressionAttributeValues={":uid": account, ":key": facts["inboxKey"]},
        )
        same([item["event_id"] for item in response["Items"]], [event])
        item = response["Items"][0]
        same(item["timestamp#event_id"], f"{item['timestamp']}#{event}")
        same(item["ttl"], item["expiresAt"])
        return item

    def inbox():
        response = events.query(
            IndexName="InboxIndex",
            KeyConditionExpression="user_id = :uid",
            ExpressionAttributeValues={":uid": account},
            Limit=100,
            ScanIndexForward=False,  # Descending order (newest first)
        )
        same([item["event_id"] for item in response["Items"]], [event, earlier])

    def by_type():
        response = events.query(
            IndexName="EventTypeIndex",
            KeyConditionExpression="user_id = :uid AND begins_with(#et, :event_type)",
            ExpressionAttributeNames={"#et": "event_type#timestamp"},
            ExpressionAttributeValues={":uid": account, ":event_type": "order.completed"},
            Limit=50,
        )
        same([item["event_id"] for item in response["Items"]], [earlier, event])

    # The earlier one came as a webhook, and those stand here while they need someone.
    def by_status(status="failed", ids=(earlier, event)):
        response = events.query(
            IndexName="StatusIndex",
            KeyConditionExpression="user_id = :uid AND begins_with(#st, :status)",
            ExpressionAttributeNames={"#st": "status#timestamp"},
            ExpressionAttributeValues={":uid": account, ":status": status},
        )
        same([item["event_id"] for item in response["Items"]], list(ids))

    def expired():
        response = events.query(
            IndexName="InboxIndex",
            KeyConditionExpression="user_id = :uid",
            FilterExpression="#ttl < :now",
            ExpressionAttributeNames={"#ttl": "ttl"},
            ExpressionAttributeValues={":uid": account, ":now": int(time.time())},
            ProjectionExpression="event_id, #ttl",
        )
        same(response["Items"], [])

    def update():
        item = by_id()
        response = events.update_item(
            Key={"PK": item["PK"], "SK": item["SK"]},
            UpdateExpression="SET #status = :status, retry_count = :retry_count, #st = :st_val",
            ExpressionAttributeNames={"#status": "status", "#st": "status#timestamp"},
            ExpressionAttributeValues={
                ":status": "delivered",
                ":retry_count": 3,
                ":st_val": f"delivered#{item['timestamp']}",
            },
            ReturnValues="ALL_NEW",
        )
        same(response["Attributes"]["status"], "delivered")
        eventually(lambda: by_status("delivered", [event]))
        by_status("failed", [earlier])

    check("triggers: get event by ID", lambda: eventually(by_id))
    check("triggers: query events by user (inbox)", lambda: eventually(inbox))
    check("triggers: query events by event type", lambda: eventually(by_type))
    check("triggers: query events by status", lambda: eventually(by_status))
    check("triggers: query expired events", expired)
    check("triggers: update event status", update)


def service(check, facts, table):
    """The account service's access patterns, table by table."""
    user, account, source = facts["user"], facts["account"], facts["source"]

    def get(name, where, kind, **key):
        check(f"service: {name}", lambda: got(table(where), kind, **key))

    def query(name, where, kind, ids, index, condition, **more):
        more |= {"IndexName": index} if index else {}
        more["KeyConditionExpression"] = condition
        check(f"service: {name}", lambda: found(table(where), kind, ids, **more))

    parents = Key("parentAccountId").eq(facts["parent"])
    by_parent = "parentAccountId-accountType-index"
    get("accounts: get account by ID", "accounts", "account", accountId=account)
    query(
        "accounts: list child accounts by parent ID", "accounts", "account",
        {"accountId": account}, by_parent, parents,
    )
    query(
        "accounts: query accounts by type", "accounts", "account",
        {"accountId": account}, by_parent, parents & Key("accountType").eq("subsidiary"),
    )

    query(
        "users_accounts: get all accounts for a user", "users_accounts", "member",
        {"accountId": account}, None, Key("userId").eq(user),
    )
    query(
        "users_accounts: get all users for an account", "users_accounts", "member",
        {"userId": user}, "accountId-role-index", Key("accountId").eq(account),
    )
    get(
        "users_accounts: check user permissions for specific account", "users_accounts", "member",
        userId=user, accountId=account,
    )

    # Users, sources and keys are the gateway's, in its table and with both sets of attributes.
    profile = Key("PK").eq(f"USER#{user}") & Key("SK").eq("PROFILE")
    query("users: get user by ID", "main", "user", {"userId": user}, None, profile)
    query(
        "users: find user by email", "main", "user",
        {"userId": user}, "GSI1", Key("GSI1PK").eq(f"EMAIL#{facts['email']}"),
    )
    query(
        "sources: get source by ID", "main", "source",
        {"sourceId": source}, "GSI3", Key("GSI3PK").eq(f"SRCID#{source}"),
    )
    query(
        "api_keys: validate API key", "main", "key",
        {"keyId": facts["key"]}, "GSI2", Key("GSI2PK").eq(f"KEYHASH#{facts['keyHash']}"),
    )

    # Keys and connections of the account are in the index by status as well.
    of_account, platform = Key("accountId").eq(account), "accountId-platformId-index"
    status = of_account & Key("status").eq("active")
    query(
        "sources: list all sources for an account", "main", "source",
        {"sourceId": source}, platform, of_account,
    )
    query(
        "sources: list sources by platform", "main", "source",
        {"sourceId": source}, platform, of_account & Key("platformId").eq("stripe"),
    )
    query(
        "sources: filter sources by status", "main", "source",
        {"sourceId": source}, "accountId-status-index", status,
        FilterExpression=Attr("SK").begins_with("SRC#"),
    )
    query(
        "api_keys: list keys for an account", "main", "key",
        {"keyId": facts["key"]}, "accountId-status-index", of_account,
        FilterExpression=Attr("keyId").exists(),
    )

    query(
        "sync_schedules: get schedules for a source", "sync_schedules", "schedule",
        {"scheduleId": facts["schedule"]}, None, Key("sourceId").eq(source),
    )
    query(
        "sync_schedules: find schedules ready to run", "sync_schedules", "schedule",
        {"scheduleId": facts["schedule"]}, "nextRunAt-index",
        Key("nextRunAt").eq(facts["nextRunAt"]),
    )
    query(
        "sync_history: get sync history for a source", "sync_history", "run",
        {"syncId": facts["run"]}, None, Key("sourceId").eq(source),
    )
    query(
        "sync_history: query recent failed syncs", "sync_history", "run",
        {"syncId": facts["run"]}, "status-startedAt-index",
        Key("status").eq("failed") & Key("startedAt").gte(facts["startedAt"]),
    )

    query(
        "activities: get activities for an account", "activities", "activity",
        {"eventId": facts["activity"]}, None, Key("accountId").eq(account),
    )
    query(
        "activities: query user activity history", "activities", "activity",
        {"eventId": facts["activity"]}, "userId-timestamp-index", Key("userId").eq(user),
    )
    query(
        "activities: filter by event type", "activities", "activity",
        {"eventId": facts["activity"]}, "eventType-timestamp-index",
        Key("eventType").eq("source_created"),
    )

    active = of_account & Key("isActive").eq(1)
    get("webhooks: get webhook configuration", "webhooks", "hook", webhookId=facts["hook"])
    query(
        "webhooks: list webhooks for account", "webhooks", "hook",
        {"webhookId": facts["hook"]}, "accountId-isActive-index", active,
    )
    query(
        "webhooks: find webhooks for specific event", "webhooks", "hook",
        {"webhookId": facts["hook"]}, "accountId-isActive-index", active,
        FilterExpression=Attr("events").contains("delivery.failed"),
    )

    get(
        "notifications: a notification that was read", "notifications", "notification",
        userId=user, notificationId=facts["readNotification"],
    )
    query(
        "notifications: get notifications for user", "notifications", None,
        {"notificationId": [facts["readNotification"], facts["unreadNotification"]]},
        None, Key("userId").eq(user),
    )
    query(
        "notifications: query unread notifications", "notifications", None,
        {"notificationId": facts["unreadNotification"]}, "userId-isRead-createdAt-index",
        Key("userId").eq(user) & Key("isRead#createdAt").begins_with("0#"),
    )

    day = facts["day"]
    get(
        "usage_metrics: get daily metrics for account", "usage_metrics", "usage",
        accountId=account, metricDate=day,
    )
    query(
        "usage_metrics: calculate monthly usage", "usage_metrics", "usage",
        {"metricDate": day}, None, of_account & Key("metricDate").begins_with(day[:7]),
    )
    query(
        "usage_metrics: generate billing reports", "usage_metrics", "usage",
        {"accountId": account}, "metricDate-accountId-index", Key("metricDate").eq(day),
    )

    get("billing_plans: get plan details", "billing_plans", "plan", planId=facts["plan"])

    def limits():
        plan = table("billing_plans").get_item(Key={"planId": facts["plan"]})["Item"]
        has_attributes("plan limits", plan["limits"])

    check("service: billing_plans: limits map structure", limits)

    def listed():
        plans = table("billing_plans").scan()["Items"]
        same([plan["planId"] for plan in plans], [facts["plan"]])

    check("service: billing_plans: list available plans", listed)
    get(
        "oauth_states: validate OAuth callback state", "oauth_states", "oauth state",
        state=facts["state"],
    )


def shapes(check, facts, table):
    """The tables themselves: keys, capacity, expiry, stream and indexes."""
    client = table("main").meta.client
    for name, (keys, capacity, expiry, indexes) in TABLES.items():
        full_name = table(name).name
        described = client.describe_table(TableName=full_name)["Table"]
        types = {a["AttributeName"]: a["AttributeType"] for a in described["AttributeDefinitions"]}
        found = {i["IndexName"]: i for i in described.get("GlobalSecondaryIndexes", [])}

        def has_keys(schema=described["KeySchema"], types=types, keys=keys):
            same(written(schema, types), keys)

        def has_capacity(described=described, capacity=capacity):
            mode = described.get("BillingModeSummary", {}).get("BillingMode", "PROVISIONED")
            units = described["ProvisionedThroughput"]
            units = (units["ReadCapacityUnits"], units["WriteCapacityUnits"])
            same(ON_DEMAND if mode == "PAY_PER_REQUEST" else units, capacity)

        def expires(full_name=full_name, expiry=expiry):
            ttl = client.describe_time_to_live(TableName=full_name)["TimeToLiveDescription"]
            same(ttl.get("AttributeName"), expiry)
            on = ("ENABLED", "ENABLING")
            same(ttl["TimeToLiveStatus"] in on, expiry is not None)

        def streams(described=described, view=STREAMS.get(name)):
            same(described.get("StreamSpecification", {}).get("StreamViewType"), view)

        check(f"table {name}: keys", has_keys)
        check(f"table {name}: capacity", has_capacity)
        check(f"table {name}: expiry", expires)
        check(f"table {name}: stream", streams)
        for index, keys in indexes.items():

            def has_index(index=index, keys=keys, found=found, types=types):
                same(written(found[index]["KeySchema"], types), keys)
                same(found[index]["Projection"]["ProjectionType"], "ALL")

            check(f"table {name}: {index}", has_index)


def found(table, kind, ids, **query):
    """The query finds exactly these, in this order, each with the attributes of its kind."""

    def ask():
        items = table.query(**query)["Items"]
        for attribute, expected in ids.items():
            expected = expected if isinstance(expected, list) else [expected]
            same([item.get(attribute) for item in items], expected)
        return items

    for item in eventually(ask) if "IndexName" in query else ask():
        has_attributes(kind, item)


def got(table, kind, **key):
    item = table.get_item(Key=key).get("Item")
    assert item, f"nothing has the key {key}"
    has_attributes(kind, item)


def has_attributes(kind, item):
    if kind is None:
        return
    for attribute in ATTRIBUTES[kind].split(", "):
        name, form = attribute.rsplit(" ", 1)
        assert name in item, f"{name} is missing"
        value = item[name]
        assert FORMS.get(form, is_type(form))(value), f"{name} is {value!r}, which is no {form}"


def is_type(wanted):
    return lambda value: list(TypeSerializer().serialize(value)) == [wanted]


def is_iso(value):
    if not (isinstance(value, str) and value.endswith("Z")):
        return False
    datetime.fromisoformat(value.replace("Z", "+00:00"))
    return True


def is_number_of(first, last):
    return lambda value: is_type("N")(value) and first <= value < last


FORMS = {
    "ISO": is_iso,
    "MICROS_ISO": lambda value: is_iso(value) and re.search(r"\.\d{6}Z$", value),
    "DAY": lambda value: isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value),
    "JSON": lambda value: isinstance(value, str) and json.loads(value) is not None,
    # Told apart by their size: seconds are below this until the year 5138.
    "SECONDS": is_number_of(10**9, 10**11),
    "MILLIS": is_number_of(10**12, 10**14),
}


def written(schema, types):
    """`partition TYPE, sort TYPE`."""
    keys = sorted(schema, key=lambda key: key["KeyType"])  # HASH before RANGE
    return ", ".join(f"{key['AttributeName']} {types[key['AttributeName']]}" for key in keys)


def same(found, expected):
    assert found == expected, f"found {found!r}, expected {expected!r}"


def eventually(ask):
    for _ in range(INDEX_TRIES):
        try:
            return ask()
        except AssertionError:
            time.sleep(INDEX_PAUSE_SECONDS)
    return ask()


def main(facts):
    dynamodb = boto3.resource(
        "dynamodb",
        endpoint_url=facts["endpoint"],
        region_name=facts["region"],
        aws_access_key_id=os.environ.get("AWS_ACCESS_KEY_ID", "local"),
        aws_secret_access_key=os.environ.get("AWS_SECRET_ACCESS_KEY", "local"),
    )
    passed, failed = 0, 0

    def table(name):
        return dynamodb.Table(facts["ledger"] if name == "ledger" else facts["prefix"] + name)

    def check(name, act):
        nonlocal passed, failed
        try:
            act()
            passed += 1
        except Exception as error:  # one failure must not hide the others
            failed += 1
            print(f"FAILED {name}: {type(error).__name__}: {error}")

    for group in (shapes, gateway, ledger, service, triggers):
        group(check, facts, table)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
