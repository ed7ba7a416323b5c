import Parking
import RelayCore
import RelayJournal

/// Serves both versions: `parking-service FOLDER`, where a service of the first version may have left its journal.
@main struct ParkingService: RelayProgram {
    static func run() async throws {
        guard CommandLine.arguments.count == 2 else {
            throw RelayError(.invalidArgument, "usage: parking-service FOLDER, where it is kept who parks where")
        }
        let journal = try EventJournal(directory: CommandLine.arguments[1])
        defer { journal.close() }
        try await journal.migrate("parking", by: migrations)
        let service = try EventService(
            name: "org.example.Parking", exporting: Parking2.self, older: first, journal: journal)
        service.handle(Parking2.ParkCar.self) { command, _, unit in
            let take: SQL = """
                UPDATE places SET plate = \(command.plate) WHERE rowid = (SELECT rowid FROM places
                WHERE plate IS NULL AND NOT isClosed ORDER BY floor, place LIMIT 1) RETURNING floor, place
                """
            guard let place = try unit.query(take, as: Parking2.Place.self).first else {
                throw Parking2.ParkCar.Refusal.full
            }
            try unit.publish(Parking2.CarParked(place: place, plate: command.plate))
            try unit.set(freePlaces(&unit))
            return Parking2.ParkCar.Reply(place: place)
        }
        service.handle(Parking2.LeavePlace.self) { command, _, unit in
            let (floor, place) = (command.place.floor, command.place.place)
            let left = try unit.execute(
                "UPDATE places SET plate = NULL WHERE floor = \(floor) AND place = \(place) AND plate IS NOT NULL")
            if left == 0 { throw Parking2.LeavePlace.Refusal.isFree }
            try unit.publish(Parking2.CarLeft(place: command.place))
            try unit.set(freePlaces(&unit))
        }
        service.handle(Parking2.CloseFloor.self) { command, _, unit in
            let closed = try unit.execute(
                "UPDATE places SET isClosed = TRUE WHERE floor = \(command.floor) AND NOT isClosed")
            if closed == 0 { throw Parking2.CloseFloor.Refusal.isClosed }
            try unit.publish(Parking2.FloorClosed(floor: command.floor))
            try unit.set(freePlaces(&unit))
        }
        try await service.start()
        // The document is new, and the places are not.
        try await service.unitOfWork { unit in try unit.set(freePlaces(&unit)) }
        try await service.run()
    }
    private static func freePlaces(_ unit: inout UnitOfWork) throws -> Parking2.FreePlaces {
        let counts: SQL = "SELECT sum(plate IS NULL AND NOT isClosed) FROM places GROUP BY floor ORDER BY floor"
        return Parking2.FreePlaces(counts: try unit.query(counts))
    }
}
