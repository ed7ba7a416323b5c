import RelayCore

/// Whether the journal's disk takes commits.
extension Examination {
    func storage(_ all: [(interface: String, status: ServiceStatus?)]) {
        // All durable interfaces of a service are in one journal.
        guard let reason = all.lazy.compactMap({ $0.status?.storageReason }).first else { return }
        report(
            Finding(
                "disk", .failed, "the journal's disk refuses commits: \(reason); the service answers queries only",
                remedy: "look at the disk and its limits; the service goes on by itself when it can write again"))
    }
}
