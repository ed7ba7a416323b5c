import RelayTestKit

extension Programs {
    static var faultyService: String { folder + "/faulty-service" }
    static var faultyWatcher: String { folder + "/faulty-watcher" }
}
