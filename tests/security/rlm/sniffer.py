"""Prints every packet on the loopback device whose destination is not this machine. Needs the right to open raw sockets."""
import ipaddress
import socket

packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
packets.bind(("lo", 0))
print("ready", flush=True)
while True:
    frame = packets.recv(128)
    kind = int.from_bytes(frame[12:14], "big")
    if kind == 0x0800:
        target = ipaddress.ip_address(frame[30:34])
    elif kind == 0x86DD:
        target = ipaddress.ip_address(frame[38:54])
    else:
        continue
    if not target.is_loopback:
        print(target, flush=True)
