package webui

// table is every route. docs/reference/rest.md has a section for each row, and
// a test holds the two together. After the page come the contract's routes,
// then ours.
var table = []route{
	{method: "GET", path: "/", serve: servePage},               // the page
	{method: "GET", path: "/assets/{name}", serve: serveAsset}, // the page's files

	{method: "GET", path: "/api/personas", run: list},                                                                       // summaries of all personas
	{method: "POST", path: "/api/personas", token: true, body: objectBody, run: register},                                   // store a spec as variant default
	{method: "GET", path: "/api/personas/{id}", run: active},                                                                // the active spec
	{method: "PATCH", path: "/api/personas/{id}", token: true, body: objectBody, run: update},                               // change fields
	{method: "DELETE", path: "/api/personas/{id}", token: true, run: remove},                                                // remove a persona
	{method: "POST", path: "/api/personas/clear", token: true, body: objectBody, run: clearAll},                             // remove all personas
	{method: "POST", path: "/api/personas/validate", body: objectBody, run: validate},                                       // check a spec
	{method: "POST", path: "/api/personas/export", body: objectBody, run: export},                                           // whole specs
	{method: "POST", path: "/api/personas/update_batch", token: true, body: objectBody, run: updateBatch},                   // change fields of all that match
	{method: "POST", path: "/api/personas/assemble", serve: serveAssemble},                                                  // gone
	{method: "GET", path: "/api/registry/personas", run: variants},                                                          // all personas with their variants
	{method: "GET", path: "/api/registry/personas/{id}/variants", run: variantList},                                         // the variants of one
	{method: "GET", path: "/api/registry/personas/{id}/variants/{variant}", run: variantSpec},                               // one variant's spec
	{method: "PUT", path: "/api/registry/personas/{id}/variants/{variant}", token: true, body: objectBody, run: variantPut}, // store a spec as that variant
	{method: "POST", path: "/api/registry/personas/{id}/variants/{variant}/activate", token: true, run: variantActivate},    // make it the active one
	{method: "DELETE", path: "/api/registry/personas/{id}/variants/{variant}", token: true, run: variantDelete},             // remove a variant

	{method: "PATCH", path: "/api/registry/personas/{id}/variants/{variant}", token: true, body: objectBody, run: variantUpdate}, // change fields of one variant
	{method: "GET", path: "/api/registry/personas/{id}/specs", run: variantSpecs},                                                // the specs of all variants
	{method: "POST", path: "/api/personas/{id}/resolve", body: objectBody, run: resolve},                                         // a spec with overrides
	{method: "POST", path: "/api/personas/{id}/clone", token: true, body: objectBody, run: clone},                                // copy to a new id
	{method: "GET", path: "/api/graph", run: graph},                                                                              // who may spawn whom
	{method: "POST", path: "/api/import/check", token: true, body: objectBody, run: importCheck},                                 // check a text
	{method: "POST", path: "/api/import", token: true, body: objectBody, run: importText},                                        // store the personas of a text
	{method: "GET", path: "/api/events", serve: serveEvents},                                                                     // changes as they happen
}
