"""A real SMTP server for tests: takes mail on a free loopback port and keeps each one as a file.

Usage: smtp_server.py FOLDER

Writes the port to FOLDER/port once it listens, and every mail to FOLDER/NUMBER.eml with its envelope in the
first two lines (X-Mail-From, X-Rcpt-To). The part of an address before the @ can ask for trouble:
`refused…` gets 550, `later…` gets 451, `hanging…` gets no answer.
"""

import asyncio
import itertools
import os
import sys

from aiosmtpd.smtp import SMTP


class Keeper:
    def __init__(self, folder):
        self.folder = folder
        self.numbers = itertools.count(1)

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("refused"):
            return f"550 5.1.1 <{address}> is nobody here"
        if address.startswith("later"):
            return "451 4.3.0 try again later"
        if address.startswith("hanging"):
            await asyncio.sleep(3600)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        name = os.path.join(self.folder, f"{next(self.numbers):06}.eml")
        head = f"X-Mail-From: {envelope.mail_from}\r\nX-Rcpt-To: {','.join(envelope.rcpt_tos)}\r\n"
        with open(name + ".part", "wb") as part:
            part.write(head.encode() + envelope.content)
        os.rename(name + ".part", name)
        return "250 OK"


async def main(folder):
    keeper = Keeper(folder)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SMTP(keeper, hostname="smtp.test.invalid", loop=loop), "127.0.0.1", 0
    )
    port = os.path.join(folder, "port")
    with open(port + ".part", "w") as part:
        part.write(str(server.sockets[0].getsockname()[1]))
    os.rename(port + ".part", port)
    await server.serve_forever()


asyncio.run(main(sys.argv[1]))
