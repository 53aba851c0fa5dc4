# A connection to anywhere.
import socket
for make in (lambda: socket.create_connection(("127.0.0.1", 80), 1), lambda: socket.socket(), lambda: socket.socketpair(), lambda: __import__("urllib.request").request.urlopen("http://127.0.0.1/", timeout=1)):
    try:
        print("ESCAPED", make())
    except Exception:
        pass
