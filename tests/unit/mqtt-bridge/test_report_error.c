/* Errors of reports. */
#include <string.h>

#include "core/buf.h"
#include "reports/report_error.h"
#include "testkit/testkit.h"
#include "wire/iface.h"
#include "wire/subjects.h"

TEST(an_error_is_encoded_with_a_reason)
{
	struct wire_err err = { "/skills/0/name", "must not be empty" };
	struct wire_err nothing = { "", "" };
	struct buf b = BUF_INIT(4096);
	struct report_error r;

	report_error_fill(&r, WIRE_REPORT_KIND_SKILLS,
	    WIRE_REFUSAL_OUTCOME_REFUSED, &err, (struct wall){ 1771755630000 });
	memset(&err, 'x', sizeof(err)); /* its texts are copies */
	ck_assert_int_eq(
	    wire_encode(&wire_refusal_desc, &r.wire, &b, NULL), RC_OK);
	ck_assert_str_eq(b.p,
	    "{\"kind\":\"skills\",\"outcome\":\"refused\",\"path\":\"/skills/0/"
	    "name\",\"reason\":\"must not be empty\",\"at\":"
	    "\"2026-02-22T10:20:30Z\"}");
	buf_reset(&b);
	/* The reason is never empty. */
	report_error_fill(&r, WIRE_REPORT_KIND_RESULT,
	    WIRE_REFUSAL_OUTCOME_NOTED, &nothing, (struct wall){ 1 });
	ck_assert_int_eq(
	    wire_encode(&wire_refusal_desc, &r.wire, &b, NULL), RC_OK);
	buf_free(&b);
}

TEST(every_report_topic_has_a_kind)
{
	enum wire_report_kind kind;
	size_t i, n = 0;

	for (i = 0; i < wire_topics_n; i++) {
		if (report_error_kind(i, &kind)) {
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

TEST(a_rollback_names_both_versions)
{
	struct wire_err err;

	report_error_rollback(WIRE_TOPIC_SKILLS, 3, 5, false, &err);
	ck_assert_str_eq(err.path, "/skill_version");
	ck_assert_str_eq(
	    err.why, "version 3 is older than version 5, which is known");
	report_error_rollback(WIRE_TOPIC_INTENT_CATALOG, 0, 5, false, &err);
	ck_assert_str_eq(err.path, "/catalog_version");
	ck_assert_str_eq(err.why, "has no version, but version 5 is known");
	report_error_rollback(WIRE_TOPIC_SKILLS, 0, 5, true, &err);
	ck_assert_str_eq(err.path, "");
}
