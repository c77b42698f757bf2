#include "web_files.h"

#define JAVASCRIPT "text/javascript; charset=utf-8"

/* The bytes of a file of web/, from web_<name> to web_<name>_end. */
#define WEB_FILE(name, file)                                   \
	extern const char web_##name[], web_##name##_end[];    \
	__asm__(".section .rodata\n"                           \
		".globl web_" #name "\n"                       \
		"web_" #name ":\n"                             \
		".incbin \"services/star-hub/web/" file "\"\n" \
		".globl web_" #name "_end\n"                   \
		"web_" #name "_end:\n"                         \
		".byte 0\n"                                    \
		".previous\n")

WEB_FILE(index, "index.html");
WEB_FILE(demo_css, "demo.css");
WEB_FILE(demo_js, "demo.js");
WEB_FILE(star_js, "star.js");

#define PAGE web_index, web_index_end
const struct ws_file web_files[WEB_FILES_N] = {
	{ "/", "text/html; charset=utf-8", PAGE },
	{ "/demo", "text/html; charset=utf-8", PAGE },
	{ "/demo/demo.css", "text/css; charset=utf-8", web_demo_css,
	    web_demo_css_end },
	{ "/demo/demo.js", JAVASCRIPT, web_demo_js, web_demo_js_end },
	{ "/star.js", JAVASCRIPT, web_star_js, web_star_js_end },
};
