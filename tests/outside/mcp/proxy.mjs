// Passes requests on to a server, with a token that whoever sends them does not know. Prints the port that it listens on.
import http from 'node:http';

const [address, token] = process.argv.slice(2);
const [host, port] = address.split(':');
const proxy = http.createServer((request, response) => {
  const { port: own } = proxy.address();
  // Names of this proxy become names of the server; all others stay, for the server to refuse.
  const named = (text) => text && text.replace(new RegExp(`:${own}$`), `:${port}`);
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  headers.host = named(headers.host);
  if (headers.origin) headers.origin = named(headers.origin);
  const passed = http.request({ host, port, method: request.method, path: request.url, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    response.flushHeaders();
    answer.pipe(response);
  });
  passed.on('error', () => response.destroy());
  response.on('close', () => passed.destroy());
  request.pipe(passed);
});
proxy.listen(0, '127.0.0.1', () => console.log(proxy.address().port));
