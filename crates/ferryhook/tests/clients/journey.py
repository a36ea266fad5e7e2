"""The main journey, with the client that a public generator makes of `/openapi.json`.

    journey.py FOLDER-OF-THE-CLIENT SERVER

Signs up, makes a key, a source and a connection, sends an event, watches it arrive, and sends it
again. Every answer is read by the generated models: one that does not fit fails here.
"""

import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.path.insert(0, sys.argv[1])
server = sys.argv[2]

from ferryhook_client import AuthenticatedClient, Client  # noqa: E402
from ferryhook_client.api.api_keys import api_keys_create, api_keys_list, api_keys_revoke  # noqa: E402
from ferryhook_client.api.auth import auth_login, auth_signup  # noqa: E402
from ferryhook_client.api.connections import connections_create, connections_list  # noqa: E402
from ferryhook_client.api.events import events_explain, events_get, events_list_of_source, events_replay  # noqa: E402
from ferryhook_client.api.sources import sources_create, sources_delete, sources_get, sources_list  # noqa: E402
from ferryhook_client.models import KeyPermissions, Login, NewConnection, NewKey, NewSource, NewUser, Problem, ReplayOne  # noqa: E402

PATIENCE_SECONDS = 30


def done(response, status):
    assert response.status_code == status, (response.status_code, response.content)
    assert response.parsed is not None or status == 204, response.content
    assert not isinstance(response.parsed, Problem), response.content
    return response.parsed


def wait_for(look):
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        if (found := look()) is not None:
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


destination = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=destination.serve_forever, daemon=True).start()
receiver = f"http://127.0.0.1:{destination.server_port}/"

stranger = Client(base_url=server)
password = "a long enough password"
user = NewUser(email="journey@example.com", password=password, name="Journey")
done(auth_signup.sync_detailed(client=stranger, body=user), 201)
entered = done(auth_login.sync_detailed(client=stranger, body=Login(user.email, password)), 200)

person = AuthenticatedClient(base_url=server, token=entered.access_token)
made = done(api_keys_create.sync_detailed(client=person, body=NewKey(name="journey", permissions=KeyPermissions.WRITE)), 201)
client = AuthenticatedClient(base_url=server, token=made.key)

source = done(sources_create.sync_detailed(client=client, body=NewSource(name="shop")), 201)
there = NewConnection(name="back office", destination_url=receiver)
connection = done(connections_create.sync_detailed(source.source_id, client=client, body=there), 201)
assert [one.connection_id for one in done(connections_list.sync_detailed(source.source_id, client=client), 200).data] == [connection.connection_id]

request = urllib.request.Request(f"{server}/in/{source.source_id}", data=b'{"order": 7}')
assert urllib.request.urlopen(request).status == 200


def delivered():
    events = done(events_list_of_source.sync_detailed(source.source_id, client=client), 200).data
    return next((event for event in events if event.status == "delivered"), None)


event = wait_for(delivered)
story = done(events_get.sync_detailed(event.event_id, client=client), 200)
assert story.attempts[0].status_code == 200
done(events_explain.sync_detailed(event.event_id, client=client), 200)
done(events_replay.sync_detailed(event.event_id, client=client, body=ReplayOne()), 202)
wait_for(lambda: True if len(done(events_get.sync_detailed(event.event_id, client=client), 200).attempts) > 1 else None)

assert done(sources_list.sync_detailed(client=client), 200).has_more is False
done(sources_delete.sync_detailed(source.source_id, client=client), 204)
assert sources_get.sync_detailed(source.source_id, client=client).status_code == 404

key_id = done(api_keys_list.sync_detailed(client=person), 200).data[0].key_id
done(api_keys_revoke.sync_detailed(key_id, client=person), 204)
assert sources_list.sync_detailed(client=client).status_code == 401
print("arrived")
