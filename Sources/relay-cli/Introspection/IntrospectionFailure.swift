/// Why an introspection text cannot be used.
enum IntrospectionFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// Over the limit for one object, in bytes.
    case tooLarge(Int)
    case malformed(line: Int, reason: String)
    /// Deeper, or with more elements, than any description of an object.
    case excessive(line: Int)
    /// It declares entities of its own: no description needs them, and they are how small texts become huge.
    case entities(line: Int)
    case illegalName(kind: String, name: String, line: Int)
    case illegalSignature(String, of: String, line: Int)

    var description: String {
        switch self {
        case .tooLarge(let size): "the introspection data has \(size) bytes, which is over the limit"
        case .malformed(let line, let reason): "the introspection data is malformed in line \(line): \(reason)"
        case .excessive(let line): "the introspection data is too deep or too long in line \(line)"
        case .entities(let line): "the introspection data declares an entity in line \(line)"
        case .illegalName(let kind, let name, let line):
            "the introspection data has an illegal \(kind) name in line \(line): '\(name)'"
        case .illegalSignature(let signature, let owner, let line):
            "the introspection data has an illegal signature for '\(owner)' in line \(line): '\(signature)'"
        }
    }
}
