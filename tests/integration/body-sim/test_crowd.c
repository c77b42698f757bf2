/* Many bodies in one process. */
#include "integration/body-sim/crowd.h"

TEST_T(five_hundred_bodies, 180)
{
	static struct crowd c;
	json_t *j;

	ck_assert(crowd_room(500));
	crowd_start(&c, 500);
	crowd_ask_all(&c, "r1");
	j = bed_state(&c.b, "terminal-500");
	ck_assert_str_eq(text_of(j, "color"), "white");
	json_decref(j);
	crowd_lose_broker(&c);
	crowd_ask_all(&c, "r2");
	crowd_end(&c);
}
