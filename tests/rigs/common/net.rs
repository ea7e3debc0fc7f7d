//! Two hosts on one machine, joined by a link that can be shaped while it is used.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::slow::Sink;
use super::undo::{PREFIX, Step, Undo, run};

/// The far host, and a port that is its own business.
const FAR: ([u8; 4], u16) = ([10, 77, 91, 2], 9177);

/// The two ends; the near one is where a session runs.
pub(crate) struct Link {
    near: String,
    far: String,
    _undo: Vec<Undo>,
}

fn name(end: &str) -> String {
    format!("{PREFIX}-{end}")
}

/// Does something in a network name space; sockets that are made there stay there.
fn within<T: Send + 'static>(host: &str, work: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T, String> {
    let file = format!("/run/netns/{host}");
    let thread = std::thread::spawn(move || {
        move_into_link_name_space(File::open(file)?.as_fd(), Some(LinkNameSpaceType::Network))?;
        work()
    });
    thread.join().map_err(|_| "a thread in a name space panicked".to_owned())?.map_err(|e| e.to_string())
}

impl Link {
    /// A link of so many megabits a second.
    pub(crate) fn new(megabits: u32) -> Result<Self, String> {
        let (near, far) = (name("near"), name("far"));
        let mut undo = Vec::new();
        for end in [&near, &far] {
            let step = Step::Run(["ip", "netns", "del", end].map(str::to_owned).to_vec());
            undo.push(Undo::note(step).map_err(|e| e.to_string())?);
            run(&["ip", "netns", "add", end])?;
        }
        run(&["ip", "link", "add", "rig0", "netns", &near, "type", "veth", "peer", "name", "rig1", "netns", &far])?;
        for (end, device, address) in [(&near, "rig0", "10.77.91.1/24"), (&far, "rig1", "10.77.91.2/24")] {
            run(&["ip", "-n", end, "addr", "add", address, "dev", device])?;
            run(&["ip", "-n", end, "link", "set", "lo", "up"])?;
            run(&["ip", "-n", end, "link", "set", device, "up"])?;
        }
        let rate = format!("{megabits}mbit");
        let shape = ["root", "tbf", "rate", &rate, "burst", "256kb", "latency", "200ms"];
        run(&[&["tc", "-n", &near, "qdisc", "add", "dev", "rig0"], &shape[..]].concat())?;
        Ok(Self { near, far, _undo: undo })
    }

    /// Another speed, from now on.
    pub(crate) fn shape(&self, megabits: u32) -> Result<(), String> {
        let rate = format!("{megabits}mbit");
        let shape = ["root", "tbf", "rate", &rate, "burst", "256kb", "latency", "200ms"];
        run(&[&["tc", "-n", &self.near, "qdisc", "change", "dev", "rig0"], &shape[..]].concat()).map(drop)
    }

    /// What puts a command on the near host.
    pub(crate) fn near(&self) -> Vec<String> {
        ["ip", "netns", "exec", &self.near].map(str::to_owned).to_vec()
    }

    /// Sends data from the near host to the far one and waits until it is there.
    pub(crate) fn sink(&self) -> Result<Sink, String> {
        let listener = within(&self.far, || TcpListener::bind(SocketAddr::from(FAR)))?;
        std::thread::spawn(move || listener.accept().and_then(|(stream, _)| take_in(stream)));
        let mut stream = within(&self.near, || TcpStream::connect(SocketAddr::from(FAR)))?;
        stream.set_nodelay(true).map_err(|e| e.to_string())?;
        Ok(Box::new(move |data| {
            stream.write_all(&(data.len() as u32).to_le_bytes())?;
            stream.write_all(data)?;
            stream.read_exact(&mut [0])
        }))
    }
}

/// The far host: takes in blocks and says of each that it is there.
fn take_in(mut stream: TcpStream) -> io::Result<()> {
    let mut length = [0; 4];
    let mut block = Vec::new();
    loop {
        stream.read_exact(&mut length)?;
        block.resize(u32::from_le_bytes(length) as usize, 0);
        stream.read_exact(&mut block)?;
        stream.write_all(&[1])?;
    }
}
