import RelayWire

extension IncomingCall {
    /// Its arguments, or those that are wanted of them; nil if they cannot be read.
    func read<Arguments>(_ arguments: (inout WireReader) throws -> Arguments) -> Arguments? {
        body.withUnsafeBytes { body in
            var reader = WireReader(body)
            return try? arguments(&reader)
        }
    }
}
