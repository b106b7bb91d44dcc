"""The cluster's name server: A 127.0.0.1 for the stock service, NXDOMAIN otherwise."""
import asyncio, struct, sys

port, ms = int(sys.argv[1]), int(sys.argv[2])


class Names(asyncio.DatagramProtocol):
    def connection_made(self, t):
        self.t = t

    def datagram_received(self, data, addr):
        asyncio.get_running_loop().call_later(ms / 1000, self.answer, data, addr)

    def answer(self, data, addr):
        i, labels = 12, []
        while data[i]:
            labels.append(data[i + 1:i + 1 + data[i]].decode().lower())
            i += 1 + data[i]
        question, kind = data[12:i + 5], struct.unpack("!H", data[i + 1:i + 3])[0]
        known = ".".join(labels) == "stock.spice-internal.example"
        head = data[:2] + struct.pack("!HHHHH", 0x8580 | (0 if known else 3), 1, 1 if known and kind == 1 else 0, 0, 0)
        rr = b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 30, 4) + bytes([127, 0, 0, 1]) if known and kind == 1 else b""
        self.t.sendto(head + question + rr, addr)


async def main():
    await asyncio.get_running_loop().create_datagram_endpoint(Names, local_addr=("127.0.0.1", port))
    await asyncio.Event().wait()

asyncio.run(main())
