/* What an MCP server writes: each line is a message to one session. */
#include "catalogue.h"
#include "core/buf.h"
#include "mcp_session.h"
#include "must.h"
#include "rpc.h"

static struct rpc_reader *reader;

static void
on_step(struct mcp_session *s, const struct mcp_step *step)
{
	must(step->n <= MCP_EFFECTS_MAX);
	must(step->timer_ms >= MCP_TIMER_UNCHANGED);
	for (size_t i = 0; i < step->n; i++) {
		const struct mcp_effect *e = &step->effects[i];

		/* Whatever a server writes, a message is one line. */
		if (e->kind == MCP_SEND)
			must(e->json.n > 0 &&
			    memchr(e->json.p, '\n', e->json.n) == NULL);
		if (e->kind == MCP_FAIL)
			must(mcp_session_state(s) == MCP_FAILED);
	}
}

static void
on_message(void *arg, const struct rpc_message *m)
{
	struct mcp_session *s = arg;
	struct buf b = BUF_INIT(1024 * 1024);
	struct mcp_step step;

	if (m->kind == RPC_REQUEST) {
		rpc_write_error(&b, m->id_json, RPC_UNKNOWN_METHOD, "no");
		must(memchr(b.p, '\n', b.n) == NULL);
	} else if (m->kind == RPC_NOTIFICATION) {
		mcp_session_on_changed(s, &step);
		on_step(s, &step);
	} else if (mcp_session_on_response(s, m, &step)) {
		on_step(s, &step);
	}
	buf_free(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str rest = { (const char *)data, n }, line;
	const struct mcp_session_opts o = { .era = n > 0 && data[0] == 'L'
		    ? MCP_ERA_LEGACY
		    : MCP_ERA_UNKNOWN,
		.client = "1" };
	struct mcp_session *s = mcp_session_new(&o);
	struct mcp_step step;

	if (reader == NULL)
		reader = rpc_reader_new();
	mcp_session_on_open(s, &step);
	on_step(s, &step);
	while (rest.p != NULL && mcp_session_state(s) != MCP_FAILED) {
		line = str_split(&rest, '\n');
		if (line.n == 0) {
			mcp_session_on_timer(s, &step);
			on_step(s, &step);
			continue;
		}
		(void)!rpc_read(
		    reader, line, mcp_session_batches(s), on_message, s);
	}
	must(catalogue_n(mcp_session_tools(s)) <= CATALOGUE_TOOLS_MAX);
	mcp_session_free(s);
	return 0;
}
