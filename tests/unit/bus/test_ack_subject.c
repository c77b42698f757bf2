/*
 * Parsing of a delivery's reply subject.
 */
#include <string.h>

#include "bus/bus_internal.h"
#include "bus/jetstream.h"
#include "testkit/testkit.h"

TEST(both_forms_of_an_ack_subject_are_parsed)
{
	static const struct {
		const char *s;
		int64_t delivered, seq, pending; /* delivered 0: invalid */
	} all[] = {
		{ "$JS.ACK.JOBS.worker.1.1.1.1795175130027252664.0", 1, 1, 0 },
		{ "$JS.ACK.JOBS.worker.3.77.9.1795175130027252664.12", 3, 77,
		    12 },
		{ "$JS.ACK.hub.acc.JOBS.worker.3.77.9.1795175130027252664.12",
		    3, 77, 12 },
		{ "$JS.ACK._.acc.JOBS.worker.3.77.9.17951751300.12.rnd", 3, 77,
		    12 },
		{ "$JS.ACK._.acc.JOBS.worker.3.77.9.17951751300.12.a.b.c", 3,
		    77, 12 },
		{ "", 0, 0, 0 },
		{ "$JS.ACK", 0, 0, 0 },
		{ "$JS.ACK.JOBS.worker.1.1.1.1795175130027252664", 0, 0, 0 },
		{ "$JS.ACK.x.JOBS.worker.1.1.1.17951751300.0", 0, 0, 0 },
		{ "$JS.NAK.JOBS.worker.1.1.1.17951751300.0", 0, 0, 0 },
		{ "_INBOX.ACK.JOBS.worker.1.1.1.17951751300.0", 0, 0, 0 },
		{ "$JS.ACK.JOBS.worker.0.1.1.17951751300.0", 0, 0, 0 },
		{ "$JS.ACK.JOBS.worker.-1.1.1.17951751300.0", 0, 0, 0 },
		{ "$JS.ACK.JOBS.worker.x.1.1.17951751300.0", 0, 0, 0 },
		{ "$JS.ACK.JOBS.worker.1.x.1.17951751300.0", 0, 0, 0 },
		{ "$JS.ACK.JOBS.worker.1.1.1.17951751300.x", 0, 0, 0 },
		{ "$JS.ACK.JOBS.worker.1.1.1.17951751300.-1", 0, 0, 0 },
		{ "$JS.ACK.JOBS.worker.99999999999999999999.1.1.1.0", 0, 0, 0 },
	};
	struct bus_delivery j;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		memset(&j, 0, sizeof(j));
		ck_assert_msg((bus_ack_subject_parse(str_of(all[i].s), &j) ==
				  RC_OK) == (all[i].delivered != 0),
		    "\"%s\"", all[i].s);
		ck_assert_int_eq(j.delivered, all[i].delivered);
		ck_assert_int_eq(j.seq, all[i].seq);
		ck_assert_int_eq(j.pending, all[i].pending);
	}
	ck_assert_int_eq(
	    bus_ack_subject_parse((struct str){ NULL, 0 }, &j), RC_INVALID);
	ck_assert_int_eq(bus_ack_subject_parse(str_of(all[1].s), &j), RC_OK);
	ck_assert_int_eq(j.stored.ms, INT64_C(1795175130027));
}
