import Glibc
public import RelayCore
import RelayWire

/// The contract of the last release, as a file in your repository that a test compares with the code.
///
/// ```swift
/// @Test func contract() throws {
///     try ContractFile.check(Orders1.self, at: "Contracts/org.example.shop.Orders1.contract")
/// }
/// ```
///
/// The first run writes the file: commit it. From then on the file changes only when you ask for it, so that each
/// change of the contract is a change in your repository, which others can review:
///
/// | the code, compared with the file | `check` |
/// | --- | --- |
/// | is the same | returns |
/// | differs, and breaks nothing | throws, until `RELAY_WRITE_CONTRACTS=1 swift test` has written the file |
/// | breaks something | throws, with what breaks for whom, and what to do instead |
///
/// A contract that was never released may break: `RELAY_WRITE_CONTRACTS=breaking` writes it all the same. With
/// `CI=true`, a file that is absent is an error, and not written.
public enum ContractFile {
    /// Compares a contract with its file, and writes the file if there is none.
    ///
    /// - Parameter interface: the contract, as the code has it.
    /// - Parameter path: the file; a relative path begins at the package of `source`, wherever the test runs.
    /// - Parameter source: a file of the package: the caller's own.
    /// - Throws: `.schemaMismatch` if they differ. `.notFound` if the file is absent with `CI=true`, `.invalidArgument`
    ///   for a file that is no contract, `.unsupportedType` for a contract that D-Bus cannot carry, and what keeps the
    ///   file from being read or written.
    public static func check<I: EventInterface>(
        _ interface: I.Type, at path: String, source: String = #filePath
    ) throws {
        let mode = Mode { name in getenv(name).map { String(cString: $0) } }
        try check(try ContractText(of: interface), at: place(of: path, from: source), mode)
    }

    /// What may be written.
    struct Mode: Hashable, Sendable {
        enum Acceptance: Hashable { case nothing, whatBreaksNothing, everything }
        static let variable = "RELAY_WRITE_CONTRACTS"
        var accepts: Acceptance
        /// A file that is absent is written.
        var begins: Bool

        init(accepts: Acceptance = .nothing, begins: Bool = true) { (self.accepts, self.begins) = (accepts, begins) }
        init(_ environment: (String) -> String?) {
            switch environment(Self.variable) {
            case "breaking": accepts = .everything
            case nil, "", "0": accepts = .nothing
            default: accepts = .whatBreaksNothing
            }
            // On a build machine nobody would see that a file is new.
            let isWatched = ["true", "1"].contains(environment("CI") ?? "")
            begins = !isWatched || accepts != .nothing
        }
    }

    static func check(_ contract: ContractText, at path: String, _ mode: Mode) throws(RelayError) {
        guard let text = try SmallTextFile.read(path, atMost: ContractText.longest) else {
            if mode.begins { return try write(contract, to: path) }
            throw RelayError(
                .notFound,
                "\(contract.name) has no contract at \(path): run the tests where you work, and commit the file that they write"
            )
        }
        let released: ContractText
        do throws(RelayError) { released = try ContractText(parsing: text) } catch {
            throw RelayError(error.code, "\(path), \(error.message)", cause: error)
        }
        if released == contract { return }
        let changes: [ContractChange]
        do throws(RelayError) { changes = try released.changes(to: contract) } catch {
            throw RelayError(error.code, "\(path): \(error.message)", cause: error)
        }
        let breaks = changes.contains(where: \.breaks)
        if mode.accepts == .everything || mode.accepts == .whatBreaksNothing && !breaks {
            return try write(contract, to: path)
        }
        let list = changes.map { "\n\($0)" }.joined()
        let message =
            breaks
            ? "\(contract.name) breaks what is in \(path):\(list)\nUndo that, or give what changes a new name. If it was never "
                + "released, write it with \(Mode.variable)=breaking"
            : "\(contract.name) is not what is in \(path); nothing breaks:\(list)\nWrite it with \(Mode.variable)=1, and commit "
                + "the file"
        throw RelayError(.schemaMismatch, message)
    }
    private static func write(_ contract: ContractText, to path: String) throws(RelayError) {
        let head = """
            # The contract of \(contract.name), for the tests to compare: see ContractFile.
            # Do not edit it: \(Mode.variable)=1 swift test

            """
        try SmallTextFile.write(head + contract.text, to: path)
    }
    /// A relative path begins at the folder of the source's package, or of the source, if it has none.
    static func place(of path: String, from source: String) -> String {
        if path.hasPrefix("/") { return path }
        var folders = source.split(separator: "/").dropLast()
        let own = "/" + folders.joined(separator: "/")
        while !folders.isEmpty {
            let folder = "/" + folders.joined(separator: "/")
            if access(folder + "/Package.swift", F_OK) == 0 { return "\(folder)/\(path)" }
            folders.removeLast()
        }
        return "\(own)/\(path)"
    }
}
