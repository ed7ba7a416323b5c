import RelayEvents

extension RelayError {
    /// What a peer gets to know of a failure beneath it: its kind. The message may name files and values, which are the
    /// administrator's.
    var clauseForPeers: String { storageTrouble?.clauseForPeers ?? Self.kinds(of: self) }
    /// A disk's reason for the failure; nil: it has another one.
    package var storageTrouble: SystemError? {
        guard let system = (cause as? any SystemCaused)?.system, system.isOfDisk else { return nil }
        return system
    }
}
extension SystemError {
    /// Why a disk of the service refuses, without a path.
    var clauseForPeers: String { storageClause(disk: "the service's disk", file: "the service's journal") }
}
