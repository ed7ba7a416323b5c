#pragma once

// Which sources and which compiler a program was made of, where the build was told so (`make release`); else NULL. A target of its
// own: nothing else is compiled anew for another commit.
const char *relay_commit(void);
const char *relay_toolchain(void);
