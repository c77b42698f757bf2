/*
 * The command "shim": what procsup starts for each process.
 */
#include "handlers.h"
#include "procsup/procsup.h"
#include "svc/svc.h"

int
shim_command(const struct svc_run *r)
{
	return procsup_shim_main(r->argc, r->argv);
}
