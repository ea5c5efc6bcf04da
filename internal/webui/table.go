package webui

// table is every route. docs/reference/rest.md has a section for each row, and
// a test holds the two together. The first seventeen are the contract's; the
// rest is ours.
var table = []route{
	{method: "GET", path: "/", serve: servePage, about: "the page"},
	{method: "GET", path: "/assets/{name}", serve: serveAsset, about: "the page's files"},

	{method: "GET", path: "/api/personas", run: list, about: "summaries of all personas"},
	{method: "POST", path: "/api/personas", token: true, body: objectBody, run: register, about: "store a spec as variant default"},
	{method: "GET", path: "/api/personas/{id}", run: active, about: "the active spec"},
	{method: "PATCH", path: "/api/personas/{id}", token: true, body: objectBody, run: update, about: "change fields"},
	{method: "DELETE", path: "/api/personas/{id}", token: true, run: remove, about: "remove a persona"},
	{method: "POST", path: "/api/personas/clear", token: true, body: objectBody, run: clearAll, about: "remove all personas"},
	{method: "POST", path: "/api/personas/validate", body: objectBody, run: validate, about: "check a spec"},
	{method: "POST", path: "/api/personas/export", body: objectBody, run: export, about: "whole specs"},
	{method: "POST", path: "/api/personas/update_batch", token: true, body: objectBody, run: updateBatch, about: "change fields of all that match"},
	{method: "POST", path: "/api/personas/assemble", run: assemble, about: "gone"},
	{method: "GET", path: "/api/registry/personas", run: variants, about: "all personas with their variants"},
	{method: "GET", path: "/api/registry/personas/{id}/variants", run: variantList, about: "the variants of one"},
	{method: "GET", path: "/api/registry/personas/{id}/variants/{variant}", run: variantSpec, about: "one variant's spec"},
	{method: "PUT", path: "/api/registry/personas/{id}/variants/{variant}", token: true, body: objectBody, run: variantPut, about: "store a spec as that variant"},
	{method: "POST", path: "/api/registry/personas/{id}/variants/{variant}/activate", token: true, run: variantActivate, about: "make it the active one"},
	{method: "DELETE", path: "/api/registry/personas/{id}/variants/{variant}", token: true, run: variantDelete, about: "remove a variant"},

	{method: "PATCH", path: "/api/registry/personas/{id}/variants/{variant}", token: true, body: objectBody, run: variantUpdate, about: "change fields of one variant"},
	{method: "GET", path: "/api/registry/personas/{id}/specs", run: variantSpecs, about: "the specs of all variants"},
	{method: "POST", path: "/api/personas/{id}/resolve", body: objectBody, run: resolve, about: "a spec with overrides"},
	{method: "POST", path: "/api/personas/{id}/clone", token: true, body: objectBody, run: clone, about: "copy to a new id"},
	{method: "GET", path: "/api/graph", run: graph, about: "who may spawn whom"},
	{method: "POST", path: "/api/import/check", token: true, body: objectBody, run: importCheck, about: "check a text"},
	{method: "POST", path: "/api/import", token: true, body: objectBody, run: importText, about: "store the personas of a text"},
	{method: "GET", path: "/api/events", serve: serveEvents, about: "changes as they happen"},
}
