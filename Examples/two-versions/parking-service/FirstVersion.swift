import Parking
import RelayCore

/// What the front ends of the first version see and do: everything is derived, and nothing is published twice.
let first = Parking2.serving(Parking1.self) { older in
    older.event(Parking2.CarParked.self) { Parking1.CarParked(place: number($0.place)) }
    older.event(Parking2.CarLeft.self) { Parking1.CarLeft(place: number($0.place)) }
    older.nothing(for: Parking2.FloorClosed.self)
    older.document(Parking2.FreePlaces.self) { Parking1.FreePlaces(count: $0.counts.reduce(0, +)) }
    older.command(Parking1.ParkCar.self) { _ in
        Parking2.ParkCar(plate: "unknown")
    } reply: { reply in
        Parking1.ParkCar.Reply(place: number(reply.place))
    }
    older.command(Parking1.LeavePlace.self) { Parking2.LeavePlace(place: place($0.place)) }
}
private func number(_ place: Parking2.Place) -> Int32 { place.floor * 100 + place.place }
private func place(_ number: Int32) -> Parking2.Place { Parking2.Place(floor: number / 100, place: number % 100) }
