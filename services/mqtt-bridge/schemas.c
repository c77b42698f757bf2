/*
 * Compiling, for the answer alone.
 */
#include "schemas.h"

#include <stdio.h>

#include "core/clock.h"
#include "wire/schema.h"

enum rc
schemas_check(const struct wire_skill *skills, size_t n, size_t *bad,
    struct wire_err *err)
{
	struct budget budget;
	enum rc rc;

	budget_start(&budget, SCHEMAS_MS * INT64_C(1000000));
	for (*bad = 0; *bad < n; ++*bad) {
		struct wire_schema *schema = NULL;

		if (skills[*bad].input_schema.p == NULL)
			continue;
		rc = wire_schema_new(skills[*bad].input_schema, &schema, err);
		wire_schema_free(schema);
		if (rc == RC_INVALID)
			return rc;
		if (budget_over(&budget)) {
			err->path[0] = '\0';
			(void)snprintf(err->why, sizeof(err->why),
			    "is where the schemas have taken too long to "
			    "compile");
			return RC_TOOBIG;
		}
	}
	return RC_OK;
}
