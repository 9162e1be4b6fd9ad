// What is to be built, wave by wave. Where there is no room for a table its rows are cards.
//
// The roles are said outright: a table that is laid out otherwise is none to some browsers.
import { memo, useId, useState } from "react";

import { Chevron } from "../../ui/Fold";
import { inOneLine, shown } from "../../ui/shown";
import type { Task } from "../../wire/blocks";
import "./TasksTable.css";

interface Wave {
  wave: number | null;
  tasks: Task[];
}

/** The waves in their order; what belongs to none comes last. */
export function wavesOf(tasks: readonly Task[]): Wave[] {
  const waves = new Map<number | null, Task[]>();
  for (const task of tasks) {
    const wave = task.wave ?? null;
    waves.set(wave, [...(waves.get(wave) ?? []), task]);
  }
  return [...waves].map(([wave, of]) => ({ wave, tasks: of })).sort((one, other) => (one.wave ?? Infinity) - (other.wave ?? Infinity));
}

const COLUMNS = ["Id", "Task", "Kind", "Use cases", "Depends on", "Files"];

export const TasksTable = memo(function TasksTable({ tasks }: { tasks: readonly Task[] }) {
  const waves = wavesOf(tasks);
  return (
    <div className="@container">
      <table role="table" className="tasks" aria-label="Tasks">
        <colgroup>
          {COLUMNS.map((name) => (
            <col key={name} />
          ))}
        </colgroup>
        <thead role="rowgroup">
          <tr role="row">
            {COLUMNS.map((name) => (
              <th key={name} role="columnheader" scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        {waves.map(({ wave, tasks: of }) => (
          <tbody key={wave} role="rowgroup">
            {(wave !== null || waves.length > 1) && (
              <tr role="row" className="tasks-wave">
                <th role="rowheader" scope="rowgroup" colSpan={COLUMNS.length}>
                  {wave === null ? "In no wave" : `Wave ${wave}`}
                  <span className="font-normal text-soft"> · {of.length === 1 ? "1 task" : `${of.length} tasks`}</span>
                </th>
              </tr>
            )}
            {of.map((task, index) => (
              <TaskRow key={index} task={task} />
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
});

function TaskRow({ task }: { task: Task }) {
  const { id, name, kind, ucs = [], depends = [], create = [], modify = [], description } = task;
  const [open, setOpen] = useState(false);
  const more = useId();
  return (
    <>
      <tr role="row" className="task">
        <td role="cell" className="task-id">
          {inOneLine(id)}
        </td>
        <th role="rowheader" scope="row" className="task-name" dir="auto">
          {description === "" || description === undefined ? (
            inOneLine(name)
          ) : (
            <button type="button" className="task-more" aria-expanded={open} aria-controls={open ? more : undefined} onClick={() => setOpen(!open)}>
              <span>{inOneLine(name)}</span>
              <Chevron open={open} />
            </button>
          )}
        </th>
        <td role="cell" data-name="Kind" data-empty={(kind ?? "") === "" || undefined} className="text-[0.8125rem]">
          {inOneLine(kind ?? "")}
        </td>
        <Names name="Use cases" names={ucs} />
        <Names name="Depends on" names={depends} />
        <td role="cell" data-name="Files" data-empty={create.length + modify.length === 0 || undefined} className="task-files">
          <Files sign="+" word="Creates" paths={create} />
          <Files sign="~" word="Changes" paths={modify} />
        </td>
      </tr>
      {open && (
        <tr role="row" id={more} className="task-description">
          <td role="cell" colSpan={COLUMNS.length}>
            <p className="verbatim">{shown(description)}</p>
          </td>
        </tr>
      )}
    </>
  );
}

function Names({ name, names }: { name: string; names: readonly string[] }) {
  return (
    <td role="cell" data-name={name} data-empty={names.length === 0 || undefined} className="font-mono text-[0.8125rem]">
      {names.map(inOneLine).join(", ")}
    </td>
  );
}

function Files({ sign, word, paths }: { sign: string; word: string; paths: readonly string[] }) {
  return paths.map((path, index) => (
    <span key={index} className="task-file" dir="ltr">
      <span aria-hidden="true" className="text-edge">
        {sign}
      </span>
      <span className="sr-only">{word} </span>
      <span>{inOneLine(path)}</span>
    </span>
  ));
}
