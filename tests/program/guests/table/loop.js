// SPDX-License-Identifier: GPL-2.0-or-later
const squares = [1, 2, 3].map((x) => x * x);
console.log(squares, JSON.stringify({ a: [1, null] }), 2n ** 70n);
Promise.resolve("soon").then(console.log);
const server = require("net").createServer((c) => c.end("by tcp"));
const connect = () => require("net").connect(server.address().port).on("data", (d) => {
    console.log(String(d));
    server.close();
    setTimeout(() => console.log("later"), 20);
});
require("fs").readFile("sorted.txt", (_, text) => {
    console.log("read", text.length);
    server.listen(0, "127.0.0.1", connect);
});
