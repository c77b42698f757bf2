/* Names of tools: each is unique, in the models' alphabet, and found again. */
#include <string.h>

#include "core/mem.h"
#include "must.h"
#include "tool_name.h"

#define TOOLS_MAX 64

/* Lines of "<server> <tool>". */
static size_t
origins_read(struct str text, struct tool_origin *list)
{
	size_t n = 0;

	while (text.p != NULL && n < TOOLS_MAX) {
		struct str line = str_split(&text, '\n');

		list[n].server = str_split(&line, ' ');
		list[n++].tool = line;
	}
	return n;
}

static void
name_check(struct str name)
{
	size_t i;

	must(name.n <= TOOL_NAME_MAX);
	for (i = 0; i < name.n; i++)
		must((name.p[i] >= 'a' && name.p[i] <= 'z') ||
		    (name.p[i] >= 'A' && name.p[i] <= 'Z') ||
		    (name.p[i] >= '0' && name.p[i] <= '9') ||
		    name.p[i] == '_' || name.p[i] == '-');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str text = { (const char *)data, n };
	struct tool_origin list[TOOLS_MAX];
	size_t i, n_list = origins_read(text, list);
	struct tool_names *t = tool_names_new(list, n_list);

	for (i = 0; i < n_list; i++) {
		struct str name = tool_names_at(t, i);

		name_check(name);
		if (name.n > 0)
			must(tool_names_find(t, name) == i);
		(void)tool_names_find(t, list[i].tool);
	}
	tool_names_free(t);
	return 0;
}
