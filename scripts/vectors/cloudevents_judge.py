"""What the Python library of CloudEvents takes for the attributes of requests."""
import json
import sys
from importlib.metadata import version

from cloudevents.core.bindings.http import HTTPMessage, from_http
from cloudevents.core.formats.json import JSONFormat


def read(one):
    try:
        event = from_http(HTTPMessage(headers=one["headers"], body=one["body"].encode()), JSONFormat())
        return {"id": event.get_id(), "source": event.get_source(), "type": event.get_type()}
    except Exception:
        return None


json.dump({"by": f"PyPI cloudevents {version('cloudevents')}", "found": [read(one) for one in json.load(sys.stdin)]}, sys.stdout)
