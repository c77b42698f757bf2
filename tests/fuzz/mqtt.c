/*
 * Fuzzes what terminals publish: a topic up to the first newline, then the
 * payload.  A topic that parses must format back; a payload is decoded as its
 * topic says, and what is rejected must have a reason.
 */
#include <stdlib.h>

#include "address.h"
#include "broker-plugin/topic_filter.h"
#include "credentials/password_file.h"
#include "must.h"
#include "terminal/snapshot_parse.h"
#include "wire/device.h"
#include "wire/wire.h"

#define PREFIX    STR("soul")
#define ARENA_MAX (WIRE_ARENA_MAX + 2UL * 1024 * 1024)
#define JSON_MAX  (4UL * 1024 * 1024)

static void
mqtt_check_topic(const struct address *a, struct str topic)
{
	char text[ADDRESS_TOPIC_MAX], filter[ADDRESS_TOPIC_MAX];
	struct str made;

	must(a->row < wire_topics_n && wire_topics[a->row].from_body);
	must(id_terminal_valid(a->terminal));
	must(address_topic(PREFIX, a, text, &made) == RC_OK);
	must(str_eq(made, topic));
	must(address_filter(PREFIX, a->row, filter).n > 0);
}

static void
mqtt_read_result(struct str in, const struct address *a, struct arena *mem)
{
	struct buf json = BUF_INIT(JSON_MAX);
	struct wire_result msg;
	struct wire_err err = { "", "" };
	enum rc rc = wire_device_result(in, a->request_id, mem, &msg, &err);

	if (rc == RC_OK) {
		must(str_eq(msg.request_id, a->request_id));
		rc = wire_encode(&wire_result_desc, &msg, &json, &err);
	}
	must(rc == RC_OK || err.why[0] != '\0');
	buf_free(&json);
}

static void
mqtt_read_snapshot(struct str in, const struct address *a, struct arena *mem)
{
	struct snapshot_parser *i = snapshot_parser_new(WIRE_MESSAGE_MAX);
	struct wire_err err = { "", "" };
	struct snapshot s;
	enum rc rc = a->row == WIRE_TOPIC_SKILLS
	    ? snapshot_parse_skills(i, in, a->terminal, mem, &s, &err)
	    : snapshot_parse_catalog(i, in, a->terminal, mem, &s, &err);

	if (rc == RC_OK)
		must(s.version >= 0 && s.json.n >= 2 && s.json.p[0] == '[');
	else
		must(err.why[0] != '\0');
	snapshot_parser_free(i);
}

static void
mqtt_read_text(struct str in, const struct address *a, struct arena *mem)
{
	union {
		struct wire_online online;
		struct wire_heartbeat heartbeat;
	} msg;
	struct wire_err err = { "", "" };

	if (wire_decode(wire_topics[a->row].message, in, mem, &msg, &err) !=
	    RC_OK)
		must(err.why[0] != '\0');
}

/* Any id makes one line of the password file, or none. */
static void
mqtt_write_password(struct str id)
{
	struct password_list *p = password_list_new(STR("health:$7$1$a$b\n"));
	struct str text;
	size_t i, lines = 0;
	bool is = password_list_add(p, id, STR("$7$1$c$d"));

	must(password_list_text(p, &text) == RC_OK);
	for (i = 0; i < text.n; i++)
		lines += text.p[i] == '\n';
	must(lines == 1 + (size_t)is && !password_list_lacks(p, text));
	password_list_free(p);
}

/*
 * Whatever the rules, a terminal can only subscribe to its own topics: the
 * levels before its user are the rule's.
 */
static void
mqtt_subscribe(struct str filter, struct str rules)
{
	struct topic_filters *f;
	struct str shipped = STR("pattern read soul/terminal/%u/invoke/+\n");

	if (topic_filters_new(rules, &f) == RC_OK)
		must(!topic_filters_allow(f, STR("+"), filter));
	topic_filters_free(f);
	must(topic_filters_new(shipped, &f) == RC_OK);
	if (topic_filters_allow(f, STR("t1"), filter))
		must(str_starts(filter, STR("soul/terminal/t1/")) &&
		    filter.n <= sizeof("soul/terminal/t1/invoke/+") - 1);
	topic_filters_free(f);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str rest = { (const char *)data, n }, topic;
	struct arena *mem = arena_new(ARENA_MAX);
	struct address a;
	enum rc rc;

	topic = str_split(&rest, '\n');
	if (rest.p == NULL)
		rest = STR("");
	mqtt_write_password(topic);
	mqtt_subscribe(topic, rest);
	rc = address_parse(PREFIX, topic, &a);
	must(rc == RC_OK || rc == RC_NOENT || rc == RC_INVALID);
	if (rc == RC_OK) {
		mqtt_check_topic(&a, topic);
		must(topic_name_error(a.terminal, topic, false) == NULL);
		must((topic_name_error(a.terminal, topic, true) != NULL) ==
		    (a.row == WIRE_TOPIC_RESULT));
		if (a.row == WIRE_TOPIC_RESULT)
			mqtt_read_result(rest, &a, mem);
		else if (a.row == WIRE_TOPIC_SKILLS ||
		    a.row == WIRE_TOPIC_INTENT_CATALOG)
			mqtt_read_snapshot(rest, &a, mem);
		else
			mqtt_read_text(rest, &a, mem);
	}
	arena_free(mem);
	return 0;
}
