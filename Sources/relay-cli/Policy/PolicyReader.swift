import CExpat
/// Reads the configuration files of a bus: the rules of `BusPolicy`, with those of the files that a file includes.
struct PolicyReader {
    /// nil: it cannot be read.
    let content: (_ path: String) -> SmallFile.Content?
    /// The names in a folder, no more than `most`; empty: it cannot be read.
    let names: (_ folder: String, _ most: Int) -> [String]

    /// How deep files may include others, how many files and folders there may be, and how many names in a folder.
    private static let (deepest, mostPlaces, mostNames) = (8, 2_000, 4_096)
    /// For all of it: the files are those that the bus names, which may be anybody's.
    private static let patience = Duration.seconds(2)

    private struct Progress {
        var policy = BusPolicy()
        var places = 0
        /// The files of each folder that was listed.
        var folders: [String: [String]] = [:]
        let end: ContinuousClock.Instant
        /// There is more than is read, or what others wrote: then what was read is not the policy.
        var isUnknown = false

        /// Counts a file or folder. Returns whether it may be read.
        mutating func visit() -> Bool {
            places += 1
            if places > PolicyReader.mostPlaces || ContinuousClock.now > end { isUnknown = true }
            return !isUnknown
        }
    }

    /// nil: the file cannot be read, or is no configuration; or there is more of it than is read, or what others wrote.
    func policy(at path: String, within patience: Duration = patience) -> BusPolicy? {
        var progress = Progress(end: .now + patience)
        return read(path, depth: 0, &progress) && !progress.isUnknown ? progress.policy : nil
    }
    private func read(_ path: String, depth: Int, _ progress: inout Progress) -> Bool {
        guard depth <= Self.deepest, progress.visit() else { return false }
        let text: String
        switch content(path) {
        case .whole(let whole): text = whole
        case .tooLarge, .foreign:
            progress.isUnknown = true
            return false
        case nil: return false
        }
        guard let parts = PolicyBuilder.parts(of: text) else { return false }
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        func absolute(_ path: String) -> String { path.hasPrefix("/") ? path : "\(folder)/\(path)" }
        for part in parts where !progress.isUnknown {
            switch part {
            case .rule(let rule): progress.policy.rules.append(rule)
            case .file(let path): _ = read(absolute(path), depth: depth + 1, &progress)
            case .folder(let path):
                let folder = absolute(path)
                for name in files(in: folder, &progress) where !progress.isUnknown {
                    _ = read("\(folder)/\(name)", depth: depth + 1, &progress)
                }
            }
        }
        return true
    }
    private func files(in folder: String, _ progress: inout Progress) -> [String] {
        guard progress.visit() else { return [] }
        if let files = progress.folders[folder] { return files }
        let names = names(folder, Self.mostNames + 1)
        if names.count > Self.mostNames { progress.isUnknown = true }
        let files = names.filter { $0.hasSuffix(".conf") }.sorted()
        progress.folders[folder] = files
        return files
    }
}

/// Collects what expat reports of one file. A class, for C's callbacks to find it; it lives as long as one parse.
final class PolicyBuilder {
    enum Part: Equatable {
        case rule(BusPolicy.Rule)
        case file(String)
        case folder(String)
    }
    private static let mostElements = 50_000

    private let parser: XML_Parser
    private var parts: [Part] = []
    private var open: [String] = []
    private var elements = 0
    private var context: BusPolicy.Context?
    private var text = ""
    private var isRefused = false

    private init(_ parser: XML_Parser) { self.parser = parser }

    /// nil: the text is no configuration of a bus.
    static func parts(of xml: String) -> [Part]? {
        guard let handle = XML_ParserCreate("UTF-8") else { return nil }
        defer { XML_ParserFree(handle) }
        let builder = PolicyBuilder(handle)
        // Unretained: the builder outlives the parser's calls, which all happen below.
        XML_SetUserData(handle, Unmanaged.passUnretained(builder).toOpaque())
        XML_SetElementHandler(
            handle, { context, name, attributes in PolicyBuilder.from(context)?.start(name, attributes) },
            { context, _ in PolicyBuilder.from(context)?.end() })
        XML_SetCharacterDataHandler(handle) { context, text, length in
            PolicyBuilder.from(context)?.add(text, length)
        }
        // No configuration needs entities of its own, and they are how small texts become huge.
        XML_SetEntityDeclHandler(handle) { context, _, _, _, _, _, _, _, _ in PolicyBuilder.from(context)?.refuse() }
        let bytes = xml.utf8.map { CChar(bitPattern: $0) }
        guard let size = Int32(exactly: bytes.count), XML_Parse(handle, bytes, size, 1) == XML_STATUS_OK,
            !builder.isRefused
        else { return nil }
        return builder.parts
    }
    private static func from(_ context: UnsafeMutableRawPointer?) -> PolicyBuilder? {
        // The pointer is the one that `parts` has set, while it runs.
        context.map { Unmanaged<PolicyBuilder>.fromOpaque($0).takeUnretainedValue() }
    }

    private func refuse() {
        isRefused = true
        _ = XML_StopParser(parser, XML_Bool(XML_FALSE))
    }
    private func add(_ characters: UnsafePointer<XML_Char>?, _ length: Int32) {
        guard let characters, open.last == "include" || open.last == "includedir", text.utf8.count < 4_096 else {
            return
        }
        let bytes = UnsafeBufferPointer(start: characters, count: Int(length)).map { UInt8(bitPattern: $0) }
        text += String(decoding: bytes, as: UTF8.self)
    }
    private func start(
        _ name: UnsafePointer<XML_Char>?, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?
    ) {
        guard !isRefused, let name else { return }
        elements += 1
        if elements > Self.mostElements { return refuse() }
        let element = String(cString: name)
        var values: [String: String] = [:]
        var next = attributes
        while let key = next?[0], let value = next?[1] {
            values[String(cString: key)] = String(cString: value)
            next = next?.advanced(by: 2)
        }
        switch (open.last, element) {
        case (nil, "busconfig"): break
        case (nil, _): return refuse()
        case ("busconfig", "policy"): context = Self.context(values)
        case ("policy", "allow"), ("policy", "deny"):
            if let context, let subject = Self.subject(values) {
                parts.append(.rule(BusPolicy.Rule(context: context, allows: element == "allow", subject: subject)))
            }
        default: break
        }
        text = ""
        open.append(element)
    }
    private func end() {
        let path = String(text.trimmingSpaces)
        switch open.popLast() {
        case "policy": context = nil
        case "include" where !path.isEmpty: parts.append(.file(path))
        case "includedir" where !path.isEmpty: parts.append(.folder(path))
        default: break
        }
        text = ""
    }

    /// nil: a context that no user of today has, such as a console.
    private static func context(_ values: [String: String]) -> BusPolicy.Context? {
        if let user = values["user"] { return .user(user) }
        if let group = values["group"] { return .group(group) }
        switch values["context"] {
        case "default": return .everyone
        case "mandatory": return .mandatory
        default: return nil
        }
    }
    /// nil: a rule about neither owning a name nor calling its owner.
    private static func subject(_ values: [String: String]) -> BusPolicy.Subject? {
        // `*` stands for anything, and for nothing; but not as a prefix, which is the beginning of a name.
        func given(_ key: String) -> String? { values[key].flatMap { $0 == "*" ? nil : $0 } }
        func pattern(_ name: String, _ prefix: String) -> BusPolicy.Pattern {
            given(name).map { .name($0) } ?? values[prefix].map { .prefix($0) } ?? .any
        }
        if values["own"] != nil || values["own_prefix"] != nil { return .owning(pattern("own", "own_prefix")) }
        // A call has no error's name, and dbus-daemon compares only what a message has: `send_error` excludes no call.
        guard values.keys.contains(where: { $0.hasPrefix("send_") }),
            (given("send_type") ?? "method_call") == "method_call", values["send_broadcast"] != "true",
            (given("send_path") ?? "/") == "/", Int(values["min_fds"] ?? "0") ?? 0 <= 0
        else { return nil }
        return .calling(
            pattern("send_destination", "send_destination_prefix"),
            interface: given("send_interface"), member: given("send_member"))
    }
}

extension StringProtocol {
    fileprivate var trimmingSpaces: SubSequence {
        let isSpace = { (character: Character) in character.isWhitespace }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return self[startIndex..<startIndex]
        }
        return self[first...last]
    }
}
