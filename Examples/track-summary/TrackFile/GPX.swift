import CGPXExpat

/// Reads a GPX file's tracks with expat. The file is anybody's: whatever is in it, the answer is a track or a fault.
public enum GPX {
    /// A day of points, one a second, has 8 MiB.
    public static let largestBytes = 16 << 20

    public static func parse(_ file: [UInt8]) throws(GPXFault) -> Track {
        guard file.count <= largestBytes else {
            throw GPXFault(line: 1, reason: "the file has \(file.count) bytes; at most \(largestBytes) are read")
        }
        guard let handle = XML_ParserCreateNS(nil, XML_Char(GPXReader.separator)) else {
            throw GPXFault(line: 1, reason: "out of memory")
        }
        defer { XML_ParserFree(handle) }
        let reader = GPXReader(handle)
        // Unretained: the reader outlives the parser's calls, which all happen below.
        XML_SetUserData(handle, Unmanaged.passUnretained(reader).toOpaque())
        XML_SetElementHandler(
            handle,
            { context, name, attributes in GPXReader.from(context)?.start(name, attributes) },
            { context, _ in GPXReader.from(context)?.end() })
        XML_SetCharacterDataHandler(handle) { context, text, count in GPXReader.from(context)?.add(text, Int(count)) }
        XML_SetEntityDeclHandler(handle) { context, _, _, _, _, _, _, _, _ in
            GPXReader.from(context)?.fail("it declares an entity; no GPX file needs one")
        }
        let status = file.withUnsafeBytes { bytes in
            // At most `largestBytes`: it fits.
            XML_Parse(handle, bytes.bindMemory(to: CChar.self).baseAddress, Int32(bytes.count), 1)
        }
        if let fault = reader.fault { throw fault }
        guard status == XML_STATUS_OK else {
            let reason = XML_ErrorString(XML_GetErrorCode(handle)).map { String(cString: $0) } ?? "unknown error"
            throw GPXFault(line: reader.line, reason: "this is no XML: \(reason)")
        }
        guard reader.hasPoints else { throw GPXFault(line: reader.line, reason: "it has no track point") }
        return reader.track
    }
}

/// Why a file cannot be used.
public struct GPXFault: Error, Equatable, CustomStringConvertible {
    /// From 1.
    public let line: Int
    /// For people. What it shows of the file cannot act on a terminal.
    public let reason: String

    public var description: String { "line \(line): \(reason)" }
}
