//! Starts agents from an argv template and talks to them over their standard input and output.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc::{Sender, UnboundedSender, channel, unbounded_channel};

use crate::vocab::event::{Event, Said};
use crate::vocab::name::NodeName;
use crate::vocab::node::{Conditions, Inventory};
use crate::vocab::order::{AgentOrder, Hello};
use crate::vocab::plan::Plan;
use crate::vocab::survey::Survey;

/// How long an agent may take to answer a survey.
const SURVEY: Duration = Duration::from_secs(10);
/// Words of agents that may wait for the runner's loop.
const WAITING: usize = 4096;

/// A node and how its agent is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSpec {
    /// The node's name in the record.
    pub name: NodeName,
    /// The agent's command line; its input and output are the line to it.
    pub argv: Vec<String>,
    /// Whether it runs on the runner's own machine: it is started again, once, when it dies.
    pub local: bool,
}

impl NodeSpec {
    /// A node on this machine, its host read below `root` when one is given.
    #[must_use]
    pub fn local(name: &str, program: &str, root: Option<&PathBuf>) -> Self {
        let mut argv = vec![program.to_owned(), "agent".to_owned()];
        if let Some(root) = root {
            argv.extend(["--root".to_owned(), root.display().to_string()]);
        }
        Self { name: name.into(), argv, local: true }
    }
}

/// What the runner hears of an agent; the number tells a late word of an agent that was replaced.
#[derive(Debug)]
pub(super) enum Word {
    /// It has said something.
    Said(NodeName, u32, Box<Said>),
    /// Its line is closed: it is gone.
    Gone(NodeName, u32),
}

/// An agent as the runner holds it. Dropping it closes its input, which ends it.
#[derive(Debug)]
pub(super) struct Agent {
    /// Counts the agents of this node.
    pub(super) number: u32,
    child: Child,
    orders: UnboundedSender<AgentOrder>,
}

impl Agent {
    /// Starts an agent; what it says goes to `words`.
    pub(super) fn start(spec: &NodeSpec, number: u32, words: Sender<Word>) -> Result<Self, String> {
        let (program, arguments) = spec.argv.split_first().ok_or("the agent's command line is empty")?;
        let mut command = Command::new(program);
        // A group of its own, so that a Ctrl-C meant for the session does not reach the agent behind the runner's back.
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = command.spawn().map_err(|e| format!("no agent could be started with {program}: {e}"))?;
        let (orders, mut ordered) = unbounded_channel::<AgentOrder>();
        if let Some(mut stdin) = child.stdin.take() {
            tokio::spawn(async move {
                while let Some(order) = ordered.recv().await {
                    if write(&mut stdin, &order).await.is_err() {
                        return;
                    }
                }
            });
        }
        if let Some(stdout) = child.stdout.take() {
            let node = spec.name.clone();
            tokio::spawn(async move {
                let mut lines = BufReader::new(stdout).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    let Ok(said) = serde_json::from_str::<Said>(&line) else { continue };
                    if words.send(Word::Said(node.clone(), number, Box::new(said))).await.is_err() {
                        return;
                    }
                }
                let _ = words.send(Word::Gone(node, number)).await;
            });
        }
        Ok(Self { number, child, orders })
    }

    /// Gives an order; one to an agent that is gone is dropped, its end is heard elsewhere.
    pub(super) fn order(&self, order: AgentOrder) {
        let _ = self.orders.send(order);
    }

    /// Closes its input and waits until it is gone; one that takes longer than `patience` is killed and not waited for, since
    /// it may hang in the kernel for ever.
    pub(super) async fn dismiss(self, patience: Duration) {
        let Self { mut child, orders, .. } = self;
        drop(orders);
        if tokio::time::timeout(patience, child.wait()).await.is_err() {
            let _ = child.start_kill();
        }
    }
}

async fn write(stdin: &mut ChildStdin, order: &AgentOrder) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(order)?;
    line.push(b'\n');
    stdin.write_all(&line).await
}

/// What a node says before anything is started on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Met {
    /// What it is, and its settings.
    pub joined: Option<(Box<Inventory>, Conditions)>,
    /// What a preflight needs to know.
    pub survey: Survey,
}

/// Asks the node of `spec` what a preflight needs to know about it, with an agent of its own that loads nothing.
///
/// # Errors
/// One line when no agent can be started, or it does not answer.
pub async fn survey(spec: &NodeSpec, plan: &Plan) -> Result<Met, String> {
    let (words, mut heard) = channel(WAITING);
    let agent = Agent::start(spec, 0, words)?;
    agent.order(AgentOrder::Hello(Hello::new("preflight")));
    agent.order(AgentOrder::Survey(plan.clone()));
    let mut joined = None;
    let answer = async {
        while let Some(word) = heard.recv().await {
            match word {
                Word::Said(_, _, said) => match said.event {
                    Event::NodeJoined { inventory, conditions, .. } => joined = Some((inventory, conditions)),
                    Event::Surveyed(survey) => return Ok(Met { joined: joined.take(), survey: *survey }),
                    Event::NodeLost { why } => return Err(why),
                    _ => {}
                },
                Word::Gone(..) => break,
            }
        }
        Err(format!("the agent of {} left without an answer", spec.name))
    };
    let answer = tokio::time::timeout(SURVEY, answer).await;
    agent.dismiss(Duration::from_millis(500)).await;
    answer.unwrap_or_else(|_| Err(format!("the agent of {} did not answer within {} s", spec.name, SURVEY.as_secs())))
}
