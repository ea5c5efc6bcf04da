// Package webui is the registry over HTTP: the routes of the registry contract
// (section 8) and a few more, each a row of table.go, and the page that uses
// them. The operations are those of the room ops; this room knows paths,
// statuses and headers. docs/reference/rest.md tells of the routes.
package webui
