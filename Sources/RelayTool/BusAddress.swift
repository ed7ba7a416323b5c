package import RelayCore

/// What `--bus` takes.
package enum BusAddress {
    /// The address, if it has the shape of one: libdbus has the last word.
    ///
    /// Throws `InvalidArgument` with the address and an example.
    package static func check(_ text: String) throws(RelayError) -> String {
        let isLegal = text.split(separator: ";", omittingEmptySubsequences: false).allSatisfy { entry in
            guard let colon = entry.firstIndex(of: ":") else { return false }
            return colon > entry.startIndex
        }
        guard isLegal else {
            throw RelayError(
                .invalidArgument, "'\(text)' is no D-Bus address; one looks like unix:path=/run/user/1000/bus")
        }
        return text
    }
}
