"""Answers late that each name is 127.0.0.1, and has nothing for IPv6: name_server.py ADDRESS DELAY_MS"""
import asyncio
import random
import signal
import struct
import sys

address, delay = sys.argv[1], float(sys.argv[2]) / 1000
IPV4 = 1


class Answers(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, asker):
        end = 12
        while data[end]:
            end += data[end] + 1
        question = data[12 : end + 5]
        (kind,) = struct.unpack(">H", data[end + 1 : end + 3])
        found = b"\xc0\x0c" + struct.pack(">HHIH", IPV4, 1, 0, 4) + b"\x7f\0\0\1" if kind == IPV4 else b""
        answer = data[:2] + b"\x81\x80" + struct.pack(">HHHH", 1, 1 if found else 0, 0, 0) + question + found
        asyncio.get_running_loop().call_later(
            delay * (0.9 + 0.2 * random.random()), self.transport.sendto, answer, asker
        )


async def main():
    await asyncio.get_running_loop().create_datagram_endpoint(Answers, local_addr=(address, 53))
    print("ready", flush=True)
    await asyncio.sleep(125)


signal.alarm(125)
asyncio.run(main())
