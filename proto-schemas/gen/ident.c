/*
 * Names in C.
 */
#include <ctype.h>
#include <string.h>

#include "core/mem.h"
#include "gen.h"

/* Keywords, and macros of the headers that generated code includes. */
static const char *const reserved[] = { "auto", "bool", "break", "case", "char",
	"const", "continue", "default", "do", "double", "else", "enum", "errno",
	"extern", "false", "float", "for", "goto", "if", "inline", "int",
	"long", "register", "restrict", "return", "short", "signed", "sizeof",
	"static", "stderr", "stdin", "stdout", "struct", "switch", "true",
	"typedef", "union", "unsigned", "void", "volatile", "while" };

/*
 * ASCII letters and digits stay; all else becomes one "_".  A text without any
 * of them has no identifier.
 */
char *
gen_ident(const char *text, bool upper)
{
	char *id = mem_strdup(text);
	size_t n = 0;
	bool any = false;
	for (const char *p = text; *p != '\0'; p++) {
		unsigned char c = (unsigned char)*p;
		if (c < 0x80 && isalnum(c)) {
			id[n++] = (char)(upper ? toupper(c) : tolower(c));
			any = true;
		} else if (c == '_' || n == 0 || id[n - 1] != '_') {
			id[n++] = '_';
		}
	}
	id[n] = '\0';
	return any ? id : NULL;
}

char *
gen_member(const char *text)
{
	char *id = gen_ident(text, false);
	if (id == NULL || isdigit((unsigned char)id[0]))
		return NULL;
	for (size_t i = 0; i < NELEM(reserved); i++)
		if (strcmp(id, reserved[i]) == 0)
			return gen_printf("%s_", id);
	return id;
}

void
gen_claim(struct gen *g, const char *ident, struct where w)
{
	const json_t *by = json_object_get(g->taken, ident);
	if (by != NULL)
		gen_fail(w, "%s is already the name of %s", ident,
		    json_string_value(by));
	(void)json_object_set_new(
	    g->taken, ident, json_sprintf("%s#%s", w.file, w.path));
}
