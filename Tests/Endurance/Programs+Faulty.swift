import RelayTestKit

extension Programs {
    static var faultyService: String { folder + "/faulty-service" }
    static var runPeer: String { folder + "/run-peer" }
    static var faultyWatcher: String { folder + "/faulty-watcher" }
}
