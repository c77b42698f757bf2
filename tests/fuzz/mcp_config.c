/* Files that list MCP servers, with their comments and variables. */
#include "mcp_config.h"

#include "core/buf.h"
#include "jsonc.h"
#include "must.h"

static const char *
variable(void *arg, const char *name)
{
	(void)arg;
	must(name[0] != '\0');
	return name[0] == 'A' ? "value" : NULL;
}

/* As a catalogue: what is an error in a list of servers is one here, too. */
static void
check_catalogue(
    struct str text, const struct mcp_variables *vars, bool is_config)
{
	struct buf errors = BUF_INIT(1024 * 1024);
	struct mcp_config *c;
	enum rc rc = mcp_config_read_catalogue(text, vars, &c, &errors);

	must((rc == RC_OK) == (c != NULL));
	must((rc == RC_OK) == (errors.n == 0));
	must(rc != RC_OK || is_config);
	for (size_t i = 0; i < mcp_config_n(c); i++) {
		const struct mcp_server *s = mcp_config_at(c, i);

		must(s->policy == MCP_POLICY_CONFIRM && !s->trust_hints);
		must(s->n_auto_tools == 0);
		must(strlen(s->description) > 0);
		must(strlen(s->description) <= MCP_ENTRY_DESCRIPTION_MAX);
	}
	mcp_config_unref(c);
	buf_free(&errors);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const struct mcp_variables vars = { variable, NULL };
	struct str text = { (const char *)data, n };
	struct buf errors = BUF_INIT(1024 * 1024), json = BUF_INIT(n + 1);
	struct mcp_config *c;
	enum rc rc;

	jsonc_strip(text, &json);
	must(json.n == n);
	rc = mcp_config_read(text, &vars, &c, &errors);
	must((rc == RC_OK) == (c != NULL));
	must((rc == RC_OK) == (errors.n == 0));
	check_catalogue(text, &vars, rc == RC_OK);
	for (size_t i = 0; i < mcp_config_n(c); i++) {
		const struct mcp_server *s = mcp_config_at(c, i);

		must(strlen(s->name) > 0 && strlen(s->name) <= MCP_NAME_MAX);
		must(
		    s->kind == MCP_STDIO ? s->command != NULL : s->url != NULL);
		must(mcp_config_find(c, str_of(s->name)) == s);
		for (size_t k = 0; k < s->n_args; k++)
			must(s->args[k] != NULL);
		for (size_t k = 0; k < s->n_env; k++)
			must(s->env[k].value != NULL);
	}
	mcp_config_unref(c);
	buf_free(&errors);
	buf_free(&json);
	return 0;
}
