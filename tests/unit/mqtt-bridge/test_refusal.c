/* What is told about reports that do not count. */
#include <string.h>

#include "core/buf.h"
#include "refusal.h"
#include "testkit/testkit.h"
#include "wire/iface.h"
#include "wire/subjects.h"

TEST(a_refusal_is_a_message)
{
	struct wire_err err = { "/skills/0/name", "must not be empty" };
	struct wire_err nothing = { "", "" };
	struct buf b = BUF_INIT(4096);
	struct refusal r;

	refusal_fill(&r, WIRE_REPORT_KIND_SKILLS, WIRE_REFUSAL_OUTCOME_REFUSED,
	    &err, (struct wall){ 1771755630000 });
	memset(&err, 'x', sizeof(err)); /* it has its own texts */
	ck_assert_int_eq(
	    wire_encode(&wire_refusal_desc, &r.wire, &b, NULL), RC_OK);
	ck_assert_str_eq(b.p,
	    "{\"kind\":\"skills\",\"outcome\":\"refused\",\"path\":\"/skills/0/"
	    "name\",\"reason\":\"must not be empty\",\"at\":"
	    "\"2026-02-22T10:20:30Z\"}");
	buf_reset(&b);
	/* There is always a reason. */
	refusal_fill(&r, WIRE_REPORT_KIND_RESULT, WIRE_REFUSAL_OUTCOME_NOTED,
	    &nothing, (struct wall){ 1 });
	ck_assert_int_eq(
	    wire_encode(&wire_refusal_desc, &r.wire, &b, NULL), RC_OK);
	buf_free(&b);
}

TEST(kinds)
{
	enum wire_report_kind kind;
	size_t i, n = 0;

	for (i = 0; i < wire_topics_n; i++) {
		if (refusal_kind(i, &kind)) {
			ck_assert(wire_topics[i].from_body);
			ck_assert(str_eq(wire_report_kind_names[kind],
			    str_of(wire_topics[i].name)));
			n++;
		} else {
			ck_assert(!wire_topics[i].from_body);
		}
	}
	ck_assert_uint_eq(n, 5);
}

TEST(roll_backs)
{
	struct wire_err err;

	refusal_rollback(WIRE_TOPIC_SKILLS, 3, 5, false, &err);
	ck_assert_str_eq(err.path, "/skill_version");
	ck_assert_str_eq(
	    err.why, "version 3 is older than version 5, which is known");
	refusal_rollback(WIRE_TOPIC_INTENT_CATALOG, 0, 5, false, &err);
	ck_assert_str_eq(err.path, "/catalog_version");
	ck_assert_str_eq(err.why, "has no version, but version 5 is known");
	refusal_rollback(WIRE_TOPIC_SKILLS, 0, 5, true, &err);
	ck_assert_str_eq(err.path, "");
}
