import RelayCore
import RelayTool
import RelayWire

/// Walks a service's objects and asks each what it is.
struct Discovery {
    /// Objects; a service of ours has one for each interface.
    private static let most = 1_000
    /// Bytes of all descriptions together.
    private static let largest = 32 << 20
    private static let longestPath = 1_024

    let caller: any ServiceCaller
    let timeout: Duration
    /// Refused where nothing of it was made with Relay. nil: whatever it is, it is shown.
    var service: String?

    /// What came of a walk.
    enum Outcome: Equatable, Sendable {
        case found(Catalogue)
        /// There is no such service now.
        case absent
        /// There is none, and it cannot be started now: this is why.
        case cannotStart(CLIFailure)
        case failed(CLIFailure)

        var isFound: Bool { if case .found = self { true } else { false } }
    }
    func outcome() async -> Outcome {
        do {
            return .found(try await catalogue())
        } catch let absence as ServiceAbsent {
            return absence.cannotStart ? .cannotStart(absence.failure) : .absent
        } catch {
            return .failed(CLIFailure(ofCall: error))
        }
    }

    /// Throws `ServiceAbsent`, or `CLIFailure`: `.software` for descriptions that cannot be understood or have no end,
    /// `.unavailable` for a service of another make.
    func catalogue(from root: String = "/") async throws -> Catalogue {
        var objects: [(path: String, node: IntrospectedNode)] = []
        var waiting = [root]
        var known: Set<String> = [root]
        var size = 0
        while let path = waiting.popLast() {
            let xml: String
            do { xml = try await introspect(path) } catch let failure as CLIFailure where path == root {
                guard let service, Self.tellsOfNoObjects(failure) else { throw failure }
                throw CLIFailure.notRelay(service)
            }
            size += xml.utf8.count
            guard size <= Self.largest else {
                throw CLIFailure(.software, "the service describes itself in more than \(Self.largest >> 20) MiB")
            }
            let node: IntrospectedNode
            do throws(IntrospectionFailure) {
                node = try IntrospectionParser.parse(xml)
            } catch {
                throw CLIFailure(.software, "object '\(path)': \(error)")
            }
            objects.append((path, node))
            for child in node.children {
                let childPath = (path == "/" ? "/" : path + "/") + child
                guard childPath.utf8.count <= Self.longestPath, known.count < Self.most else {
                    throw CLIFailure(.software, "the service has more than \(Self.most) objects, or too deep ones")
                }
                if known.insert(childPath).inserted { waiting.append(childPath) }
            }
        }
        let catalogue = Catalogue(objects)
        if let service, catalogue.offered.isEmpty { throw CLIFailure.notRelay(service) }
        return catalogue
    }
    /// Programs of other makes need not describe themselves.
    private static func tellsOfNoObjects(_ failure: CLIFailure) -> Bool {
        ["UnknownMethod", "UnknownObject", "UnknownInterface"].contains {
            failure.name == "org.freedesktop.DBus.Error." + $0
        }
    }

    private func introspect(_ path: String) async throws -> String {
        let reply = try await caller.call(
            OutgoingCall(
                path: path, interface: "org.freedesktop.DBus.Introspectable", member: "Introspect", signature: "",
                body: []),
            timeout: timeout)
        guard reply.signature == "s" else {
            throw CLIFailure(
                .software, "object '\(path)' answers Introspect with '\(reply.signature)', not with a text")
        }
        do {
            return try reply.body.withUnsafeBytes { bytes in
                var reader = WireReader(bytes)
                return try reader.string()
            }
        } catch {
            throw CLIFailure(.software, "object '\(path)' answers Introspect with a malformed text: \(error)")
        }
    }
}
