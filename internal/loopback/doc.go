// Package loopback is HTTP for the person at this machine and nobody else:
// the listener, the token of one start, the guard before every handler, and
// the way a server ends. The page and MCP over HTTP stand behind the same one.
//
// Who is kept out, and by what:
//   - other machines: the listener stands on a loopback address
//   - a page of another site that sends requests here: its Origin, and what
//     the browser says of it in Sec-Fetch-Site
//   - a page whose name has been made to lead here (DNS rebinding): its Host
//   - a program that cannot read the token: the token
//   - other people with an account here, where no token is asked for: whose
//     program holds the connection (Linux)
//   - a peer that sends slowly or without end: deadlines and limits
package loopback
