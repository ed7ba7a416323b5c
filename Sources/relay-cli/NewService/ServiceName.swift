/// The bus name of a new service, and what its parts are called after it.
struct ServiceName: Equatable, Sendable {
    /// As it is on the bus: `org.example.Printer`.
    let text: String
    /// Its last element, the name of the contract's module: `Printer`.
    var module: String { String(text[text.index(after: text.lastIndex(of: ".") ?? text.startIndex)...]) }
    /// Its last two elements as words in lower case, with which the names of its parts begin: `example-photo-printer`.
    var words: String {
        let domain = text.split(separator: ".").dropLast().last ?? ""
        // No package's name has a `_`.
        var result = domain.split(separator: "_").joined(separator: "-").lowercased() + "-"
        var isInWord = false
        for character in module {
            if character.isUppercase && isInWord { result += "-" }
            isInWord = !character.isUppercase
            result += character.lowercased()
        }
        return result
    }
    /// The package, user, unit, state folder and service's program: `example-photo-printer-svc`.
    ///
    /// Two words alone can name what a system has: `org.www.Data` would run as `www-data`, and purging the package of
    /// `org.man.Db` would remove the folder of `man-db`. No package, user or group of Debian 12 and 13 ends with `-svc`.
    var program: String { words + "-svc" }
    /// The contract's first version, on the bus and in Swift.
    var interface: String { text + "1" }
    var object: String { "/" + interface.split(separator: ".").joined(separator: "/") }

    /// The group of those who use it on the system bus. Debian has none that ends so.
    var group: String { words + "-users" }

    /// What a group's name can have, as Linux's tools see it.
    private static let longestGroup = 31
    /// Modules that would be hidden by one of these names, or that a package has beside it: those of Relay's package, which
    /// is built with it, and Swift's own.
    static let taken: Set = [
        // Relay's, its tests' helpers among them.
        "BusProcess", "CDBus", "CExpat", "CFaultVFS", "CGLib", "CNats", "CRelayShims", "CRelayVersion", "CRingAttack",
        "CSQLite",
        "CSystemd", "CTransportSupport", "NatsSupport", "RelayBridge", "RelayBus", "RelayCore", "RelayDaemon",
        "RelayEvents", "RelayFoundation",
        "RelayGLib", "RelayInspection", "RelayJournal", "RelayMirrors", "RelaySystemd", "RelayTestKit", "RelayTool",
        "RelayWire",
        "Relocation", "RelocationDomain",
        "RingSupport",
        "Telemetry", "TelemetryDomain", "TestSupport", "TestTraits", "TransportReport", "WireSupport",
        // Swift's.
        "Builtin", "Cxx", "CxxStdlib", "Dispatch", "Distributed", "Foundation", "FoundationEssentials",
        "FoundationInternationalization", "FoundationNetworking", "FoundationXML", "Glibc", "Observation", "Package",
        "PackageDescription", "RegexBuilder", "Swift", "SwiftOnoneSupport", "SwiftShims", "Synchronization", "Testing",
        "XCTest",
    ]
    /// Words of Swift, which `import` does not take.
    static let keywords: Set = ["Any", "Self"]

    /// Nil, and why, as a sentence goes on that begins with the name.
    static func read(_ text: String) -> Result<ServiceName, Refusal> {
        let example = "; one looks like org.example.Printer"
        let elements = text.split(separator: ".", omittingEmptySubsequences: false)
        func isName(_ element: Substring) -> Bool {
            element.utf8.first.map { !(0x30...0x39).contains($0) } == true
                && element.utf8.allSatisfy { byte in
                    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                        || byte == 0x5F
                }
        }
        // Behind the name come a digit, and the words of its package's folders.
        guard elements.count > 1, elements.allSatisfy(isName), text.utf8.count <= 200 else {
            return .failure(Refusal("is no name of a service\(example)"))
        }
        guard let last = elements.last, let first = last.utf8.first, (0x41...0x5A).contains(first),
            !last.contains("_")
        else {
            let rule = "a capital letter, then letters and digits"
            return .failure(Refusal("does not end with a word of \(rule)\(example)"))
        }
        guard last.utf8.last.map({ (0x30...0x39).contains($0) }) == false else {
            return .failure(
                Refusal("ends with a digit: the interface has the version, in \(text)1; leave it out of the name"))
        }
        guard !taken.contains(String(last)) else {
            return .failure(Refusal("ends with '\(last)', which is the name of a module of Relay or Swift"))
        }
        guard !keywords.contains(String(last)) else {
            return .failure(Refusal("ends with '\(last)', which is a word of Swift, and can name no module"))
        }
        let name = ServiceName(text: text)
        guard let start = name.program.utf8.first, (0x61...0x7A).contains(start) else {
            return .failure(
                Refusal("would give a user '\(name.program)', and a user's name begins with a letter\(example)"))
        }
        let length = name.group.utf8.count
        guard length <= longestGroup else {
            return .failure(
                Refusal(
                    "is \(Quantity.count(UInt64(length - longestGroup), "letter")) too long: its users' group would be "
                        + "'\(name.group)', and a group's name has \(longestGroup) at most"))
        }
        return .success(name)
    }
    struct Refusal: Error, Equatable {
        let reason: String
        init(_ reason: String) { self.reason = reason }
    }
}
