import Glibc
package import Telemetry

extension Host {
    /// As this host is now.
    package static var present: Host {
        var names = utsname()
        uname(&names)
        let pages = max(0, sysconf(Int32(_SC_PHYS_PAGES)))
        return Host(
            name: text(&names.nodename), system: text(&names.sysname), release: text(&names.release),
            machine: text(&names.machine), processors: Int32(clamping: sysconf(Int32(_SC_NPROCESSORS_ONLN))),
            memory: UInt64(pages) &* UInt64(max(0, sysconf(Int32(_SC_PAGESIZE)))),
            links: NetworkLinks.all().map(\.name))
    }
    /// A field of C's: text that ends with a NUL, or with the field.
    private static func text<Field>(_ field: inout Field) -> String {
        withUnsafeBytes(of: &field) { bytes in String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
    }
}
