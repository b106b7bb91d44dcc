"""Name server for the test zone: answers every A question with 127.0.0.1 after a while."""
import asyncio
import sys


class Zone(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.t = transport

    def datagram_received(self, q, addr):
        end = q.index(b'\0', 12) + 5
        qtype = int.from_bytes(q[end - 4:end - 2], 'big')
        n = 1 if qtype == 1 else 0
        a = q[:2] + b'\x84\0\0\1' + bytes([0, n]) + b'\0\0\0\0' + q[12:end]
        if n:
            a += b'\xc0\x0c\0\1\0\1\0\0\0\0\0\4\x7f\0\0\1'
        asyncio.get_running_loop().call_later(float(sys.argv[2]), self.t.sendto, a, addr)


async def main():
    await asyncio.get_running_loop().create_datagram_endpoint(Zone, local_addr=('127.0.0.1', int(sys.argv[1])))
    await asyncio.sleep(3600)
asyncio.run(main())
