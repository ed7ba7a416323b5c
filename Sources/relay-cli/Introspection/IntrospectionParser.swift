import CExpat

/// Reads a D-Bus introspection text with expat.
enum IntrospectionParser {
    /// A description of 1,000 members has about 200 KiB.
    static let largest = 4 << 20

    static func parse(_ xml: String) throws(IntrospectionFailure) -> IntrospectedNode {
        let size = xml.utf8.count
        guard size <= largest else { throw .tooLarge(size) }
        guard let handle = XML_ParserCreate("UTF-8") else {
            throw .malformed(line: 0, reason: "out of memory")
        }
        defer { XML_ParserFree(handle) }
        let builder = IntrospectionBuilder(handle)
        // Unretained: the builder outlives the parser's calls, which all happen below.
        XML_SetUserData(handle, Unmanaged.passUnretained(builder).toOpaque())
        XML_SetElementHandler(
            handle,
            { context, name, attributes in IntrospectionBuilder.from(context)?.start(name, attributes) },
            { context, _ in IntrospectionBuilder.from(context)?.end() })
        XML_SetEntityDeclHandler(handle) { context, _, _, _, _, _, _, _, _ in
            IntrospectionBuilder.from(context)?.foundEntity()
        }
        let status =
            xml.utf8.withContiguousStorageIfAvailable { parse($0, with: handle) }
            ?? Array(xml.utf8).withUnsafeBufferPointer { parse($0, with: handle) }
        if let failure = builder.failure { throw failure }
        guard status == XML_STATUS_OK else {
            let reason = XML_ErrorString(XML_GetErrorCode(handle)).map { String(cString: $0) } ?? "unknown error"
            throw .malformed(line: builder.line, reason: reason)
        }
        guard builder.sawRoot else { throw .malformed(line: builder.line, reason: "no <node>") }
        return builder.node
    }

    private static func parse(_ bytes: UnsafeBufferPointer<UInt8>, with handle: XML_Parser) -> XML_Status {
        bytes.withMemoryRebound(to: CChar.self) { text in
            XML_Parse(handle, text.baseAddress, Int32(text.count), 1)  // At most `largest`: it fits.
        }
    }
}

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
