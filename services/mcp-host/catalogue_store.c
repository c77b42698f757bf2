#include "catalogue_store.h"

#include "catalogue.h"
#include "core/buf.h"
#include "state/keys.h"
#include "state/state.h"

#define DAY_S 86400

static enum rc
catalogue_store_key(
    char dst[STATE_KEY_MAX], const char *server, struct str *out)
{
	const struct str id = str_of(server);

	return state_key(dst, KEY_MCP_TOOLS, &id, 1, out);
}

enum rc
catalogue_store_read(
    struct state *s, const char *server, struct catalogue **out)
{
	char text[STATE_KEY_MAX];
	struct state_reply *r = NULL;
	struct catalogue *c;
	struct str key;
	size_t left_out = 0;
	enum rc rc = catalogue_store_key(text, server, &key);

	*out = NULL;
	if (rc == RC_OK)
		rc = state_cmd(s, STATE_ARGS(STR("GET"), key), &r);
	if (rc == RC_OK && state_reply_str(r).p == NULL)
		rc = RC_NOENT;
	if (rc == RC_OK) {
		c = catalogue_new();
		rc = catalogue_add(c, state_reply_str(r), &left_out);
		catalogue_seal(c);
		if (rc == RC_OK)
			*out = c;
		else
			catalogue_unref(c);
	}
	state_reply_free(r);
	return rc;
}

enum rc
catalogue_store_write(
    struct state *s, const char *server, const struct catalogue *c)
{
	struct buf json = BUF_INIT(2 * CATALOGUE_MAX);
	char text[STATE_KEY_MAX], seconds[STR_NUM_MAX];
	struct str key;
	enum rc rc = catalogue_store_key(text, server, &key);

	catalogue_write(c, &json);
	if (rc == RC_OK)
		rc = buf_rc(&json);
	if (rc == RC_OK)
		rc = state_cmd(s,
		    STATE_ARGS(STR("SET"), key, buf_str(&json), STR("EX"),
			str_num(CATALOGUE_STORE_DAYS * DAY_S, seconds)),
		    NULL);
	buf_free(&json);
	return rc;
}
