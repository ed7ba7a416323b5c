import Parking
import RelayCore

/// A sign at the entrance. It was built when there was the first version, and nobody has touched it since.
@main struct ParkingSign: RelayProgram {
    static func run() async throws {
        let relay = try EventRelay(following: "org.example.Parking", interfaces: Parking1.self)
        let sign = try relay.follow(Parking1.FreePlaces.self) { places in
            print("\(places.state.count) free")
        } onFailure: { error in
            print(error.message)
        }
        let cars = try relay.subscribe(to: Parking1.CarParked.self, from: .resuming("sign")) { car in
            print("a car is at \(car.place)")
        } onGap: { gap in
            print(gap)
        }
        try await relay.run(keeping: sign, cars)
    }
}
