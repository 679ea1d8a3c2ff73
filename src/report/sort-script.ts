// The one script of a report: tables sorted by the buttons it puts into their heads.

/** Runs in the page. Without it the tables are in the order they were written in. */
export const SORT_SCRIPT = `'use strict';
for (const table of document.querySelectorAll('table.sortable')) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const status = document.createElement('p');
  status.className = 'unseen';
  status.setAttribute('role', 'status');
  table.parentElement.after(status);
  const sortBy = (column, descending) => {
    const number = heads[column].dataset.sort === 'number';
    const key = (row) => row.cells[column].dataset.value;
    const order = (a, b) => (number ? Number(a) - Number(b) : a.localeCompare(b));
    const rows = [...body.rows].sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === '' || y === '') return (x === '') - (y === '');
      return descending ? order(y, x) : order(x, y);
    });
    body.append(...rows);
  };
  heads.forEach((head, column) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const before = head.getAttribute('aria-sort');
      const descending = before === null ? head.dataset.sort === 'number' : before === 'ascending';
      for (const other of heads) other.removeAttribute('aria-sort');
      const direction = descending ? 'descending' : 'ascending';
      head.setAttribute('aria-sort', direction);
      sortBy(column, descending);
      status.textContent = 'Sorted by ' + button.textContent + ', ' + direction + '.';
    });
  });
}
`;
