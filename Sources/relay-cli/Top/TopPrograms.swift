import RelayCore
import Synchronization

/// The programs behind subscribers' unique names, asked of the bus once for each.
final class TopPrograms: Sendable {
    /// nil: there is no connection to ask by, and subscribers have no programs.
    private let line: (any BusPeer)?
    /// nil: it was asked, and is not known.
    private let known = Mutex<[String: String?]>([:])

    init(_ line: (any BusPeer)?) { self.line = line }

    /// Waits for the bus if somebody is new. Nothing is kept of those who left.
    func programs(of peers: Set<String>) -> [String: String] {
        guard let line else { return [:] }
        let new = known.withLock { known in peers.filter { known[$0] == nil } }
        let found = new.isEmpty ? [:] : line.programs(of: new.sorted())
        return known.withLock { known in
            known = known.filter { peers.contains($0.key) }
            for peer in new { known.updateValue(found[peer], forKey: peer) }
            return known.compactMapValues { $0 }
        }
    }
}
