/* Results of tools: what is shown of them is clean, and within its limits. */
#include "result_content.h"
#include "must.h"
#include "wire/tree.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str text = { (const char *)data, n };
	struct arena *a = arena_new(256UL * 1024);
	struct wire_tree *tree;
	struct result_content r;
	size_t i, pos = 0;
	int32_t c;

	if (result_content_read(text, a, &r) == RC_OK) {
		must(r.text.n <= RESULT_TEXT_MAX);
		must(str_utf8_count(r.text) >= 0);
		while ((c = str_utf8_next(r.text, &pos)) >= 0)
			must((c >= 0x20 || c == '\n' || c == '\t') &&
			    (c < 0x7f || c > 0x9f));
		must(r.n_parts <= RESULT_PARTS_MAX);
		for (i = 0; i < r.n_parts; i++) {
			must(r.parts[i].mime_type.n <= RESULT_TYPE_MAX);
			must(r.parts[i].bytes <= r.parts[i].data.n);
			must(r.parts[i].data.p >= text.p &&
			    r.parts[i].data.n <= text.n);
		}
		if (r.structured.p != NULL && r.structured.n > 0 &&
		    (r.structured.p[0] == '{' || r.structured.p[0] == '[')) {
			must(wire_tree_parse(r.structured, &tree) == RC_OK);
			wire_tree_free(tree);
		}
	}
	arena_free(a);
	return 0;
}
