/// The numbers that a fixed layout is made of: integers of 8 to 64 bits, `Float` and `Double`.
///
/// The conformances are all there can be: registration refuses an array of any other type.
public protocol FixedLayoutNumber: BitwiseCopyable, Codable, Hashable, Sendable {}

extension Int8: FixedLayoutNumber {}
extension Int16: FixedLayoutNumber {}
extension Int32: FixedLayoutNumber {}
extension Int64: FixedLayoutNumber {}
extension Int: FixedLayoutNumber {}
extension UInt8: FixedLayoutNumber {}
extension UInt16: FixedLayoutNumber {}
extension UInt32: FixedLayoutNumber {}
extension UInt64: FixedLayoutNumber {}
extension UInt: FixedLayoutNumber {}
extension Float: FixedLayoutNumber {}
extension Double: FixedLayoutNumber {}
