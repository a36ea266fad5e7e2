"""Asks the events table what the triggers document asks it, of events that a server has stored.

    check_triggers.py FACTS

FACTS is JSON: where the table is, whose events are in it and which of them stand where
(`crates/ferryhook/tests/it/inbox/seed.rs` has a server store them and runs this). Operations, key
conditions, names and values are the document's. The table has keys of its own, so what the
document asks of the table by `user_id` and `timestamp#event_id` is asked of InboxIndex; `user_id`
is the account's id. Storing (its first pattern) is what the server has done.
"""

import json
import os
import sys
import time
from datetime import datetime
from decimal import Decimal

import boto3

# An index follows its table by a moment.
INDEX_TRIES = 100
INDEX_PAUSE_SECONDS = 0.05
DAY_SECONDS = 24 * 60 * 60


def stored(table, facts):
    """Pattern 1: every attribute that the document puts is there, in its form."""
    for event in inbox(table, facts):
        at = event["timestamp"]
        datetime.fromisoformat(at.replace("Z", "+00:00"))
        same(event["user_id"], facts["user"])
        same(event["timestamp#event_id"], f"{at}#{event['event_id']}")
        same(event["event_type#timestamp"], f"{event['event_type']}#{at}")
        same(event["status#timestamp"], f"{event['status']}#{at}")
        same(type(event["payload"]), dict)
        same(type(event["retry_count"]), Decimal)
        if "ttl" in event:
            assert event["ttl"] > time.time() + DAY_SECONDS, event["ttl"]


def by_id(table, facts):
    """Pattern 2: one event by its key."""
    wanted = inbox(table, facts)[0]
    response = table.query(
        IndexName="InboxIndex",
        KeyConditionExpression="user_id = :uid AND #key = :key",
        ExpressionAttributeNames={"#key": "timestamp#event_id"},
        ExpressionAttributeValues={
            ":uid": facts["user"],
            ":key": f"{wanted['timestamp']}#{wanted['event_id']}",
        },
    )
    same(response["Items"], [wanted])


def inbox(table, facts):
    """Pattern 3: all events of a user, the newest first."""
    response = table.query(
        IndexName="InboxIndex",
        KeyConditionExpression="user_id = :uid",
        ExpressionAttributeValues={":uid": facts["user"]},
        Limit=100,
        ScanIndexForward=False,
    )
    events = response["Items"]
    same(ids(events), list(reversed(facts["events"])))
    return events


def by_type(table, facts):
    """Pattern 4: the events of a type."""
    for event_type, expected in (
        ("order.completed", facts["completed"]),
        ("user.created", facts["created"]),
        ("order.lost", []),
    ):
        response = table.query(
            IndexName="EventTypeIndex",
            KeyConditionExpression="user_id = :uid AND begins_with(#et, :event_type)",
            ExpressionAttributeNames={"#et": "event_type#timestamp"},
            ExpressionAttributeValues={":uid": facts["user"], ":event_type": event_type},
            Limit=50,
        )
        same(ids(response["Items"]), expected)


def by_status(table, facts):
    """Pattern 5: the events that stand there."""
    settled = facts["delivered"] + facts["failed"]
    waiting = [event for event in facts["events"] if event not in settled]
    for status, expected in (
        ("failed", facts["failed"]),
        ("delivered", facts["delivered"]),
        ("received", waiting),
        ("retrying", []),
    ):
        same(ids(of_status(table, facts, status)), expected)


def of_status(table, facts, status):
    response = table.query(
        IndexName="StatusIndex",
        KeyConditionExpression="user_id = :uid AND begins_with(#st, :status)",
        ExpressionAttributeNames={"#st": "status#timestamp"},
        ExpressionAttributeValues={":uid": facts["user"], ":status": status},
    )
    return response["Items"]


def expired(table, facts):
    """What has outlived its time."""
    response = table.query(
        IndexName="InboxIndex",
        KeyConditionExpression="user_id = :uid",
        FilterExpression="#ttl < :now",
        ExpressionAttributeNames={"#ttl": "ttl"},
        ExpressionAttributeValues={":uid": facts["user"], ":now": int(time.time())},
        ProjectionExpression="event_id, #ttl",
    )
    same(response["Items"], [])


def update(table, facts):
    """Pattern 6: an event is delivered after all. The last, because it changes something."""
    newest = inbox(table, facts)[0]
    response = table.update_item(
        Key={"PK": newest["PK"], "SK": newest["SK"]},
        UpdateExpression="SET #status = :status, retry_count = :retry_count, #st = :st_val",
        ExpressionAttributeNames={"#status": "status", "#st": "status#timestamp"},
        ExpressionAttributeValues={
            ":status": "delivered",
            ":retry_count": 3,
            ":st_val": f"delivered#{newest['timestamp']}",
        },
        ReturnValues="ALL_NEW",
    )
    same(response["Attributes"]["status"], "delivered")
    same(response["Attributes"]["retry_count"], 3)
    expected = facts["delivered"] + [newest["event_id"]]
    eventually(lambda: same(ids(of_status(table, facts, "delivered")), expected))


def ids(items):
    return [item["event_id"] for item in items]


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
    table = dynamodb.Table(facts["table"])
    failed = 0
    patterns = (stored, by_id, inbox, by_type, by_status, expired, update)
    for pattern in patterns:
        try:
            eventually(lambda pattern=pattern: pattern(table, facts))
        except Exception as error:  # one failure must not hide the others
            failed += 1
            print(f"FAILED {pattern.__name__}: {type(error).__name__}: {error}")
    print(f"{len(patterns) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
