/*
 * The tools, and responses.
 */
#include "soul_mcp/mcp_view.h"

#include "core/buf.h"
#include "core/mem.h"
#include "wire/msgs.h"
#include "wire/out.h"
#include "wire/tree.h"
#include "wire/wire.h"

/* Those of the protocol's versions that have the same messages; the newest
 * first. */
static const struct str mcp_versions[] = { STR_INIT("2025-11-25"),
	STR_INIT("2025-06-18"), STR_INIT("2025-03-26"),
	STR_INIT("2024-11-05") };

#define TEXT(name, what) \
	"\"" name "\":{\"type\":\"string\",\"description\":\"" what "\"}"
#define OBJECT(name, what) \
	"\"" name "\":{\"type\":\"object\",\"description\":\"" what "\"}"
#define TOOL(name, what, hints, properties, required)                        \
	"{\"name\":\"" name "\",\"description\":\"" what                     \
	"\",\"annotations\":{" hints "},\"inputSchema\":{\"type\":"          \
	"\"object\",\"properties\":{" properties "},\"required\":[" required \
	"]}}"
#define READS  "\"readOnlyHint\":true"
#define WRITES "\"readOnlyHint\":false,\"destructiveHint\":false"
#define ACTS   "\"readOnlyHint\":false,\"destructiveHint\":true"

const char mcp_tools[] = "{\"tools\":[" TOOL("chat",
    "Talk to the soul. It replies, and may use its body and its tools.", ACTS,
    TEXT("text", "What you say.") "," TEXT(
	"session_id", "The conversation; absent: one for all clients."),
    "\"text\"") "," TOOL("say",
    "Let the soul speak to its user by its body, unasked. Either text or "
    "about.",
    WRITES,
    TEXT("text", "What it speaks, as it is.") "," TEXT(
	"about", "What it speaks about; the soul phrases it."),
    "") "," TOOL("invoke_skill",
    "Let the soul's body carry out a skill, without the soul.", ACTS,
    TEXT("skill", "The skill, as the body has reported it.") "," OBJECT(
	"arguments", "Its arguments."),
    "\"skill\"") "," TOOL("recall",
    "Search what the soul remembers of its user.", READS,
    TEXT("query", "What to search for, in plain words."),
    "\"query\"") "," TOOL("alarms",
    "The alarms and reminders of the soul's user: list them, set one, or "
    "cancel one.",
    ACTS,
    "\"action\":{\"type\":\"string\",\"enum\":[\"list\",\"set\","
    "\"cancel\"],\"default\":\"list\"}," TEXT("when",
	"Of set: when, in words (tomorrow at 7) or RFC 3339.") "," TEXT("text",
	"Of set: what it reminds of.") "," TEXT("alarm_id", "Of cancel."),
    "") "]}";

enum rc
mcp_write_result(struct str id, struct str result, struct buf *out)
{
	const struct wire_soul_mcp_response m = { .id = id, .result = result };

	return wire_encode(&wire_soul_mcp_response_desc, &m, out, NULL);
}

enum rc
mcp_write_error(struct str id, int code, struct str text, struct buf *out)
{
	const struct wire_soul_mcp_response m = { .id = id.n > 0 ? id
								 : STR("null"),
		.error = { .code = code, .message = text },
		.has_error = true };

	return wire_encode(&wire_soul_mcp_response_desc, &m, out, NULL);
}

/* The client's version if it is one of ours, or else the newest. */
static struct str
mcp_version(struct str params)
{
	struct str version = mcp_versions[0];
	struct wire_tree *v = NULL;
	struct str wanted;

	if (params.n == 0 || wire_tree_parse(params, &v) != RC_OK)
		return version;
	wanted = wire_tree_text(wire_tree_get(v, STR("protocolVersion")));
	for (size_t i = 0; i < NELEM(mcp_versions); i++)
		if (str_eq(mcp_versions[i], wanted))
			version = mcp_versions[i];
	wire_tree_free(v);
	return version;
}

enum rc
mcp_put_hello(
    struct str params, struct str soul, const char *version, struct buf *out)
{
	struct wire_out o = { .b = out };

	wire_out_object(&o);
	wire_out_name(&o, "protocolVersion");
	wire_out_str(&o, mcp_version(params));
	wire_out_name(&o, "capabilities");
	wire_out_raw(&o, STR("{\"tools\":{}}"));
	wire_out_name(&o, "serverInfo");
	wire_out_object(&o);
	wire_out_name(&o, "name");
	wire_out_str(&o, STR("soul"));
	wire_out_name(&o, "title");
	wire_out_str(&o, soul);
	wire_out_name(&o, "version");
	wire_out_str(&o, str_of(version));
	wire_out_object_end(&o);
	wire_out_object_end(&o);
	return buf_rc(out);
}

enum rc
mcp_put_outcome(int status, struct str json, struct buf *out)
{
	struct wire_out o = { .b = out };
	struct wire_tree *v = NULL;
	struct str text, reason;
	bool failed = status >= 400;
	enum rc rc = wire_tree_parse(json, &v);

	if (rc != RC_OK)
		return rc;
	text = wire_tree_text(
	    wire_tree_get(v, failed ? STR("error") : STR("reply")));
	reason = wire_tree_text(wire_tree_get(v, STR("reason")));
	wire_out_object(&o);
	wire_out_name(&o, "content");
	wire_out_array(&o);
	wire_out_object(&o);
	wire_out_name(&o, "type");
	wire_out_str(&o, STR("text"));
	wire_out_name(&o, "text");
	wire_out_text(&o, text.p != NULL ? text : json);
	wire_out_object_end(&o);
	if (failed && reason.n > 0) {
		wire_out_object(&o);
		wire_out_name(&o, "type");
		wire_out_str(&o, STR("text"));
		wire_out_name(&o, "text");
		wire_out_text(&o, reason);
		wire_out_object_end(&o);
	}
	wire_out_array_end(&o);
	wire_out_name(&o, "structuredContent");
	wire_out_raw(&o, json);
	wire_out_name(&o, "isError");
	wire_out_bool(&o, failed);
	wire_out_object_end(&o);
	wire_tree_free(v);
	return buf_rc(out);
}
