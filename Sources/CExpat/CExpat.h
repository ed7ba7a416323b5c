#include <expat.h>

// Later releases of Expat deprecate XML_GetCurrentLineNumber, whose replacement the earlier ones lack.
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
static inline XML_Size relay_expat_line(XML_Parser parser) { return XML_GetCurrentLineNumber(parser); }
#pragma clang diagnostic pop
